"""The semantic judge over whole rule sets, at the rate at which rules hold in practice.

`grids.json` holds eight rule sets of ten conditions each with situations; each situation names the
conditions that hold in it. Every condition is judged in every situation of its set, so about one
pair in ten is true. Some situations are on the topic of a condition that does not hold in them.
Every second set is for tuning; the others are kept back.
"""
