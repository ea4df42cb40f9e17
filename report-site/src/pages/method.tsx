// How Pushbench measures, how often its judge is right, and what each suite's clients do.

import { load, useLoaded } from '../data/load';
import type { Block, Manifest, Method } from '../data/types';
import { metricTitle, unitOf, wordsOf } from '../data/words';
import { Inline } from '../parts/inline';
import { Outside, parametersText, Shown } from '../parts/page';
import { Table } from '../parts/table';
import { formatNumber, formatQuantity } from '../units';

export function MethodPage({ manifest }: { manifest: Manifest }) {
  const loaded = useLoaded('method', () => load<Method>('method', manifest.judged_by));
  return (
    <>
      <h1>How this is measured</h1>
      <Measuring manifest={manifest} />
      <Shown loaded={loaded}>
        {(method) => (
          <>
            <Judge method={method} />
            {method.bias && <Bias bias={method.bias} />}
            {method.faults && <Faults faults={method.faults} />}
            {method.suites.map((suite) => (
              <Suite key={suite.id} manifest={manifest} suite={suite} />
            ))}
            {method.contract.length > 0 && (
              <section aria-labelledby="contract">
                <h2 id="contract">What every server promises</h2>
                <Blocks blocks={method.contract} />
              </section>
            )}
          </>
        )}
      </Shown>
    </>
  );
}

function Measuring({ manifest }: { manifest: Manifest }) {
  const docs = (page: string) => (manifest.repository ? `${manifest.repository}/blob/HEAD/docs/${page}` : null);
  return (
    <div class="prose">
      <p>
        A <em>trial</em> is one fresh start of one server, driven once through all stages. It is the unit of statistics:
        nothing inside a trial is averaged into a stronger claim. The server runs on one half of the machine's CPUs; the
        generator and backing services run on the other.
      </p>
      <p>
        Each client sends on an absolute schedule and never waits for a reply. Only in <em>closed</em> stages does it
        wait for the whole answer before it sends again. A latency starts when a message or request is <em>due</em>, so
        a server that stalls is charged for the whole stall. Each suite below lists its latencies. A ledger of
        everything sent, and of all intended receivers, shows what was lost, duplicated or out of order.
      </p>
      <p>
        Throughput and the costs per unit of work count what arrived in the window; if more was due, that is shown
        beside it. Connect times begin when a client is due to connect.
      </p>
      <p>
        A trial is <strong>invalid</strong> if it did not measure the server: the generator was busy or late, the
        hypervisor took CPU, the clock was set, the machine swapped, or more arrived than was sent. It is shown with its
        reason and never judged. A server that refuses clients, loses data or dies is <em>not</em> invalid: that is its
        result.
      </p>
      <p>
        A pull request's servers run beside those of its base at the same time, and each metric is judged by the paired
        ratios of many rounds. A run of a branch is compared with the accepted level of its history. A change counts if
        it is at least the margin and outside the noise; what cannot be decided is <em>unknown</em>.
      </p>
      <p>
        More in <Outside to={docs('method.md')}>docs/method.md</Outside> (measuring),{' '}
        <Outside to={docs('comparison.md')}>docs/comparison.md</Outside> (two commits),{' '}
        <Outside to={docs('history.md')}>docs/history.md</Outside> (levels),{' '}
        <Outside to={docs('site.md')}>docs/site.md</Outside> (the data behind this site).
      </p>
    </div>
  );
}

function Judge({ method }: { method: Method }) {
  const { calibration } = method;
  if (!calibration) return <p class="empty">How often the judge is right was not measured in this checkout.</p>;
  const alarms = calibration.cases.filter((each) => each.injected in method.arms);
  const faults = calibration.cases.filter((each) => !(each.injected in method.arms));
  const percent = (share: number) => formatQuantity(share, 'ratio');
  return (
    <section aria-labelledby="judge">
      <h2 id="judge">How often the judge is right</h2>
      <p>
        These comparisons have a known answer: a server against itself, or against itself with an injected fault. Real
        ones were measured; resampled ones draw a campaign that ran to its end, then blocks of its rounds. Their
        intervals count campaigns, not draws. Environments: {calibration.environments.join(', ')}.
      </p>
      <h3>False alarms</h3>
      <Table
        name="false alarms"
        columns={[
          { title: 'Server' },
          { title: 'Arms' },
          { title: 'How' },
          { title: 'Runs', numeric: true },
          { title: 'Campaigns', numeric: true },
          { title: 'Called worse', numeric: true },
          { title: '95 % interval', numeric: true },
          { title: 'Undecided', numeric: true },
        ]}
        rows={alarms.map((each) => [
          { text: each.server },
          { text: method.arms[each.injected] ?? each.injected },
          { text: each.how },
          { text: formatNumber(each.runs), value: each.runs },
          { text: formatNumber(each.campaigns ?? each.runs), value: each.campaigns ?? each.runs },
          { text: formatNumber(each.failed.count), value: each.failed.count },
          { text: `${percent(each.failed.low)} to ${percent(each.failed.high)}` },
          { text: formatNumber(each.words.unknown ?? 0), value: each.words.unknown ?? 0 },
        ])}
      />
      <h3>Power</h3>
      <Power faults={faults} arms={method.arms} />
    </section>
  );
}

function Power({ faults, arms }: { faults: NonNullable<Method['calibration']>['cases']; arms: Method['arms'] }) {
  return (
    <Table
      name="power"
      columns={[
        { title: 'Server' },
        { title: 'Fault' },
        { title: 'How' },
        { title: 'Runs', numeric: true },
        { title: 'Worse', numeric: true },
        { title: 'Unknown', numeric: true },
        { title: 'Same', numeric: true },
        { title: 'Rounds', numeric: true },
      ]}
      rows={faults.map((each) => [
        { text: each.server },
        { text: each.injected },
        { text: each.arms ? `${each.how}: ${arms[each.arms] ?? each.arms}` : each.how },
        { text: formatNumber(each.runs), value: each.runs },
        ...(['worse', 'unknown', 'same'] as const).map((word) => ({
          text: formatNumber(each.words[word] ?? 0),
          value: each.words[word] ?? 0,
        })),
        { text: `${formatNumber(each.rounds)} of ${formatNumber(each.most_rounds)}`, value: each.rounds },
      ])}
    />
  );
}

function Bias({ bias }: { bias: NonNullable<Method['bias']> }) {
  return (
    <section aria-labelledby="bias">
      <h2 id="bias">What a change without a meaning costs</h2>
      <p>
        Each server against the same code in another build, in sittings at least an hour apart ({bias.sittings} in all).
        More rounds do not remove the difference, so margins are above it.
      </p>
      <Table
        name="bias"
        columns={bias.header.map((title) => ({ title }))}
        rows={bias.rows.map((cells) => cells.map((text) => ({ text })))}
      />
    </section>
  );
}

function Faults({ faults }: { faults: NonNullable<Method['faults']> }) {
  return (
    <section aria-labelledby="faults">
      <h2 id="faults">Which faults are caught</h2>
      <p>
        A copy of the server {faults.server} gets one fault at a time, and each command is tried on its own.{' '}
        {faults.tally}
      </p>
      <Table
        name="faults"
        columns={[{ title: 'Fault' }, ...faults.ways.map((title) => ({ title }))]}
        rows={faults.rows.map(({ title, cells }) => [{ text: title }, ...cells.map((text) => ({ text }))])}
      />
      {faults.missed.length > 0 && (
        <>
          <h3>Not caught, and why</h3>
          <ul>
            {faults.missed.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function Blocks({ blocks }: { blocks: Block[] }) {
  return (
    <div class="prose">
      {blocks.map((block, number) => {
        if (block.code !== undefined) return <pre key={number}>{block.code}</pre>;
        if (block.rows !== undefined) return <Rules key={number} rows={block.rows} />;
        if (block.items === undefined) {
          return (
            <p key={number}>
              <Inline text={block.text ?? ''} />
            </p>
          );
        }
        return (
          <ul key={number}>
            {block.items.map((item) => (
              <li key={item}>
                <Inline text={item} />
              </li>
            ))}
          </ul>
        );
      })}
    </div>
  );
}

function Rules({ rows: [heading = [], ...rows] }: { rows: string[][] }) {
  return (
    <Table
      name={heading.join(', ')}
      columns={heading.map((title) => ({ title }))}
      rows={rows.map((row) => row.map((text) => ({ text, kind: 'narrow', show: <Inline text={text} /> })))}
    />
  );
}

interface SuiteProps {
  manifest: Manifest;
  suite: Method['suites'][number];
}

function Suite({ manifest, suite }: SuiteProps) {
  return (
    <section aria-labelledby={`suite-${suite.id}`}>
      <h2 id={`suite-${suite.id}`}>
        Suite {suite.id}: {suite.title}
      </h2>
      <p>
        {suite.description}
        {Object.keys(suite.parameters).length > 0 && ` Parameters: ${parametersText(suite.parameters)}.`}
      </p>
      <Latencies manifest={manifest} suite={suite} />
      {suite.protocols.map(({ name, title, blocks }) => (
        <details key={name}>
          <summary>
            Protocol {name}
            {title && (
              <>
                : <Inline text={title} />
              </>
            )}
          </summary>
          <Blocks blocks={blocks} />
        </details>
      ))}
      {suite.contract?.[0] && (
        <details>
          <summary>What its servers promise</summary>
          <Blocks blocks={suite.contract} />
        </details>
      )}
      <Profiles suite={suite} />
      <h3>Limits and margins</h3>
      <LimitsAndMargins manifest={manifest} suite={suite} />
    </section>
  );
}

/** By the moment at which a latency ends. */
const UNTIL: Record<string, string> = {
  own: 'until it is back at its sender',
  each: 'until each arrival',
  first: 'until the first arrival',
  last: 'until the last arrival',
  gap: 'from one arrival to the next',
};

function Latencies({ manifest, suite }: SuiteProps) {
  return (
    <>
      <p>Latencies of {wordsOf(manifest, suite.id).exchanges}, from when each was due:</p>
      <ul>
        {suite.latencies.map(({ title, until }) => (
          <li key={title}>
            <em>{title}</em>: {UNTIL[until] ?? until}
          </li>
        ))}
      </ul>
    </>
  );
}

function Profiles({ suite }: { suite: SuiteProps['suite'] }) {
  return (
    <Table
      name={`${suite.id} profiles`}
      columns={[
        { title: 'Profile' },
        { title: 'Stages' },
        { title: 'Warm-up', numeric: true },
        { title: 'Ramp and settling', numeric: true },
        { title: 'Steady', numeric: true },
        { title: 'Drain', numeric: true },
      ]}
      rows={Object.entries(suite.profiles).map(([name, profile]) => [
        { text: name },
        {
          kind: 'wide',
          text: profile.stages
            .map((stage) =>
              stage.name === String(stage.clients) ? stage.name : `${stage.name} (${parametersText(stage.parameters)})`,
            )
            .join(', '),
        },
        ...[
          profile.warmup_seconds,
          profile.ramp_seconds + profile.settle_seconds,
          profile.steady_seconds,
          profile.drain_seconds,
        ].map((seconds) => ({
          text: `${formatNumber(seconds)} s`,
          value: seconds,
        })),
      ])}
    />
  );
}

function LimitsAndMargins({ manifest, suite }: SuiteProps) {
  const words = wordsOf(manifest, suite.id);
  return (
    <Table
      name={`${suite.id} limits and margins`}
      columns={[
        { title: 'Metric' },
        { title: 'Kind' },
        { title: 'Bound', numeric: true },
        { title: 'At least', numeric: true },
        { title: 'For' },
      ]}
      rows={[
        ...suite.limits.map((limit) => [
          { text: metricTitle(words, limit.metric) },
          { text: `limit, ${limit.side === 'max' ? 'at most' : 'at least'}` },
          { text: formatQuantity(limit.value, unitOf(words, limit.metric)), value: limit.value },
          { text: '' },
          { text: limit.server ?? 'all servers' },
        ]),
        ...suite.margins.map((margin) => [
          { text: metricTitle(words, margin.metric) },
          { text: 'margin of a change' },
          { text: formatQuantity(margin.margin, 'ratio'), value: margin.margin },
          { text: margin.floor ? formatQuantity(margin.floor, unitOf(words, margin.metric)) : '', value: margin.floor },
          { text: margin.server ?? 'all servers' },
        ]),
      ]}
    />
  );
}
