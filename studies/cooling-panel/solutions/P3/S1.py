def step(inlets, fan, supply, dew_point):
    """Return the next (fan, supply)."""
    total = 0
    for t in inlets:
        if t is None:
            t = 0
        total = total + t
    average = total / len(inlets)

    # too hot: more fan and colder air
    if average > 26:
        fan = fan + 0.1
        supply = supply - 1
    # too cold: less fan
    if average < 24:
        fan = fan - 0.1

    if fan > 1:
        fan = 1
    if supply < 16:
        supply = 16
    return fan, supply
