"""The families of tasks: each with its tasks, actor, prompts and loaders."""
