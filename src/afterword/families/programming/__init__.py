"""The programming family: task folders and benchmarks, the actor that writes programs, its reflector."""

from afterword.families.programming.actor import ProgramActor, PromptBounds
from afterword.families.programming.benchmarks import BENCHMARKS, Benchmark, BenchmarkTask, load_benchmark
from afterword.families.programming.extraction import extract_code
from afterword.families.programming.reflection import program_reflector
from afterword.families.programming.rust_benchmarks import RUST_BENCHMARKS
from afterword.families.programming.task_folder import ProgrammingTask, load_task_folder

__all__ = [
    "BENCHMARKS",
    "RUST_BENCHMARKS",
    "Benchmark",
    "BenchmarkTask",
    "ProgramActor",
    "ProgrammingTask",
    "PromptBounds",
    "extract_code",
    "load_benchmark",
    "load_task_folder",
    "program_reflector",
]
