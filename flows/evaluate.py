"""Entry point: `python -m flows.evaluate` runs an evaluation, and `prefect.yaml` names the flow by this file."""

if __name__ == "__main__":  # the command line imports the flow itself, once the inputs are good
    from flows.cli import main

    main()
else:
    from flows.evaluation import evaluate

    __all__ = ["evaluate"]
