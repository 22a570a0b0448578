def step(inlets, fan, supply, dew_point):
    """Return the next (fan, supply)."""
    # Broken sensors show None or impossible values.
    good = [t for t in inlets if t is not None and 5 <= t <= 60]
    lowest = max(16.0, dew_point + 2)

    if not good or len(good) < 0.5 * len(inlets):
        return min(1.0, fan + 0.05), max(lowest, supply - 0.5)

    hottest = max(good)
    if hottest > 26:
        # Colder air first, as it costs less than fans.
        if supply > lowest:
            supply -= 0.5
        else:
            fan += 0.05
    elif hottest < 24:
        # Slow the fans first, then warm the air.
        if fan > 0.3:
            fan -= 0.05
        else:
            supply += 0.5

    fan = min(1.0, max(0.3, fan))
    supply = max(lowest, min(24.0, supply))
    return fan, supply
