// The addresses of every page, whatever data a site has.

/** The content of a data file. */
export async function read(page, name) {
  return page.evaluate(async (file) => {
    const script = document.createElement('script');
    script.src = `data/${file}.js`;
    const text = await new Promise((resolve) => {
      const before = window.pushbenchData;
      window.pushbenchData = (_, content) => {
        window.pushbenchData = before;
        resolve(content);
      };
      document.head.append(script);
    });
    return JSON.parse(text);
  }, name);
}

/**
 * The addresses by name. Runs: the newest and the oldest whole one, a comparison, a failed one, and one with medians
 * only.
 */
export async function addresses(page) {
  const manifest = await read(page, 'manifest');
  const run = (wanted) => manifest.runs.find(wanted)?.id;
  const whole = (each) => each.whole && !each.comparison && each.trials > 0;
  const chosen = {
    run: run(whole),
    'run-oldest': manifest.runs.findLast(whole)?.id,
    'run-comparison': run((each) => each.comparison && each.trials > 0),
    'run-failed': run((each) => each.outcome === 'fail' && !each.comparison),
    'run-medians': run((each) => !each.whole),
  };
  const server = manifest.combinations[0]?.servers[0];
  const query = (values) => new URLSearchParams(values).toString();
  return {
    overview: '#/',
    trend: '#/trend',
    'trend-one': `#/trend?${query({ s: server, metric: 'delivery_seconds.p95' })}`,
    'trend-all': `#/trend?${query({ range: `0-${(manifest.combinations[0]?.runs ?? 1) - 1}`, x: 'time', y: 'log' })}`,
    'compare-servers': '#/compare',
    'compare-metric': '#/compare?by=metric',
    'compare-runs': '#/compare?of=runs',
    runs: '#/runs',
    ...Object.fromEntries(
      Object.entries(chosen)
        .filter(([, id]) => id)
        .map(([name, id]) => [name, `#/run/${id}`]),
    ),
    server: `#/server/${encodeURIComponent(server ?? 'none')}`,
    'server-nowhere': '#/server/nowhere',
    published: '#/published',
    'published-posts': '#/published/posts',
    'published-nowhere': '#/published/nowhere',
    method: '#/method',
    nowhere: '#/nowhere',
  };
}

/** For the newest environment: its marks, including those of one server's versions, and the data of its runs. */
export async function marksOf(page) {
  const { combinations } = await read(page, 'manifest');
  const [newest, older] = combinations;
  const { marks } = await read(page, `${newest.id}/marks`);
  return { newest, older, marks, runs: await read(page, `${newest.id}/recent/runs`) };
}
