package pushbench.location;

import java.util.List;

/**
 * The news that a client receives.
 *
 * @param version the version up to which the news is complete
 */
record News(long version, List<Position> positions) {}
