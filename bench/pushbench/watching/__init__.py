"""What a user sees during a measurement: progress, the charts of `run --watch`, the stream to VictoriaMetrics.

Nothing is measured or decided here.
"""
