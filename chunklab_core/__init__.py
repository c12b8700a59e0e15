"""The thinking behind chunklab: plain functions and records, without Prefect."""
