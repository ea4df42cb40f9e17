// What the numbers were measured with, and how often the judge is right.

import type { Combination, Environment, Manifest, Overview } from '../data/types';
import { href } from '../route';
import { formatNumber, formatTime } from '../units';
import { AtCommit, OutcomeMark, RunLink, Subject } from './page';

/** Screens on which the facts leave room for the ranking below them. */
const ROOMY = '(min-width: 44rem), print';

interface Props {
  manifest: Manifest;
  overview: Overview;
  chosen: Combination;
}

export function Trust({ manifest, overview, chosen }: Props) {
  const { newest } = overview;
  const environment = manifest.environments[chosen.environment];
  return (
    <section class="panel trust" aria-label="What these numbers are worth">
      <p class="lead">
        <OutcomeMark outcome={newest.outcome} /> <RunLink id={newest.id}>{formatTime(newest.created)}</RunLink>,{' '}
        <AtCommit manifest={manifest} commit={newest.commit} />
        <span class="subject">
          : <Subject manifest={manifest} text={newest.subject} />
        </span>
      </p>
      <Reasons reasons={newest.reasons} run={newest.id} />
      <details open={matchMedia(ROOMY).matches}>
        <summary>What these numbers are worth</summary>
        <dl>
          <div>
            <dt>Machine</dt>
            <dd>{environment ? machineText(environment) : chosen.environment}</dd>
          </div>
          <div>
            <dt>The judge</dt>
            <dd>
              <a href={href('method')}>{judgeText(manifest)}</a>
            </dd>
          </div>
          <div>
            <dt>Words</dt>
            <dd>pass = within limits; worse = against history</dd>
          </div>
        </dl>
      </details>
    </section>
  );
}

/** Links to the run, which opens on the servers that failed. */
function Reasons({ reasons, run }: { reasons: string[]; run: string }) {
  const [first] = reasons;
  if (!first) return null;
  return (
    <p>
      <RunLink id={run}>
        {first}
        {reasons.length > 1 && ` and ${reasons.length - 1} more`}
      </RunLink>
    </p>
  );
}

function machineText({ cpu_model, physical_cores, cpus, driver }: Environment): string {
  const size = physical_cores === null ? `${cpus} CPUs` : `${physical_cores} cores`;
  return `${cpu_model.replace(/\((R|TM)\)/g, '')}, ${size}, ${driver}`;
}

function judgeText(manifest: Manifest): string {
  const { equal, slower } = manifest.judge ?? {};
  if (!equal?.of || !slower?.of) return 'not calibrated';
  const count = (value: number) => value.toLocaleString('en-US');
  const most = formatNumber(Number((100 * equal.most).toPrecision(2)));
  const alarms = `${count(equal.count)} false alarms in ${count(equal.of)} comparisons (at most ${most} %)`;
  return `${alarms}; ${count(slower.count)} of ${count(slower.of)} slowdowns of 10 % found`;
}
