package pushbench.location;

import java.util.List;

/**
 * What a client is told.
 *
 * @param version the one up to which it tells everything
 */
record News(long version, List<Position> positions) {}
