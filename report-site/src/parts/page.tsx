// What all pages share: the theme, links to other places, sentences in place of missing content.

import { Component, type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Loaded } from '../data/load';
import type { Combination, Manifest, Outcome, Word } from '../data/types';
import { wordsOf } from '../data/words';
import { go, here, href } from '../route';
import type { Theme } from '../theme';

export const ThemeContext = createContext<Theme>('light');
export const useTheme = () => useContext(ThemeContext);

/** Shows an error in place of a part of a page that fails, so that the rest of the page stays. */
class ErrorBoundary extends Component<{ children: ComponentChildren }, { why: string | null }> {
  override state = { why: null };

  static override getDerivedStateFromError(error: unknown) {
    return { why: error instanceof Error ? error.message : String(error) };
  }

  override render() {
    if (this.state.why === null) return this.props.children;
    return (
      <p class="empty" role="alert">
        This cannot be shown, because the format of its data is unknown: {this.state.why}.
      </p>
    );
  }
}

/** Shows what was loaded, or one sentence about why not. */
export function Shown<T>({ loaded, children }: { loaded: Loaded<T>; children: (value: T) => ComponentChildren }) {
  switch (loaded.state) {
    case 'loading':
      return (
        <p class="empty" aria-busy="true">
          Loading ...
        </p>
      );
    case 'unreadable':
      return (
        <p class="empty" role="alert">
          {loaded.why}
        </p>
      );
    case 'ready':
      return (
        <ErrorBoundary>
          <Delayed value={loaded.value}>{children}</Delayed>
        </ErrorBoundary>
      );
  }
}

/** Calls `children` when it is rendered, inside of `ErrorBoundary`. */
function Delayed<T>({ value, children }: { value: T; children: (value: T) => ComponentChildren }) {
  return <>{children(value)}</>;
}

const OUTCOMES: Record<Outcome, string> = {
  pass: '\u2713 pass',
  fail: '\u2717 fail',
  inconclusive: '? inconclusive',
  invalid: '\u2205 invalid',
};

export function OutcomeMark({ outcome }: { outcome: Outcome | null }) {
  return <span class={`mark ${outcome ?? 'none'}`}>{outcome ? OUTCOMES[outcome] : 'not judged'}</span>;
}

const WORDS: Record<Word, string> = {
  better: '\u2713 better',
  worse: '\u2717 worse',
  accepted: '\u2713 accepted',
  same: '= same',
  unknown: '? unknown',
  invalid: '\u2205 invalid',
};

export function WordMark({ word }: { word: Word }) {
  return <span class={`mark ${word}`}>{WORDS[word]}</span>;
}

/** A link to another site if `to` is an address; otherwise only its text. */
export function Outside({ to, children }: { to: string | null | undefined; children: ComponentChildren }) {
  if (!to || !/^https?:\/\//.test(to)) return <>{children}</>;
  return (
    <a href={to} rel="noopener noreferrer">
      {children}
    </a>
  );
}

export function CommitLink({ manifest, commit }: { manifest: Manifest; commit: string | null | undefined }) {
  if (!commit) return <>no commit</>;
  const to = manifest.repository && /^[0-9a-f]+$/.test(commit) ? `${manifest.repository}/commit/${commit}` : null;
  return (
    <Outside to={to}>
      <code>{commit.slice(0, 7)}</code>
    </Outside>
  );
}

/** Inside a sentence: `commit 1e75e4e`, `no commit`. */
export function AtCommit(props: Parameters<typeof CommitLink>[0]) {
  return (
    <>
      {props.commit && 'commit '}
      <CommitLink {...props} />
    </>
  );
}

/** A commit's subject, with a link to the pull request that it ends with. */
export function Subject({ manifest, text }: { manifest: Manifest; text: string }) {
  const found = /^(.*)\(#(\d+)\)$/s.exec(text);
  if (!found || !manifest.repository) return <bdi>{text}</bdi>;
  return (
    <>
      <bdi>{found[1]}</bdi>(<Outside to={`${manifest.repository}/pull/${found[2]}`}>#{found[2]}</Outside>)
    </>
  );
}

export function RunLink({ id, server, children }: { id: string; server?: string; children?: ComponentChildren }) {
  return <a href={href('run', server ? { server } : {}, id)}>{children ?? id}</a>;
}

export function ServerLink({ server }: { server: string }) {
  return <a href={href('server', {}, server)}>{server}</a>;
}

export function serverTitle(manifest: Manifest, server: string): string {
  return manifest.servers[server]?.title ?? server;
}

export function combinationTitle(manifest: Manifest, each: Combination): string {
  const environment = manifest.environments[each.environment];
  const machine = environment?.cpu_model.replace(/\((R|TM)\)/g, '').replace(/ CPU @.*| Processor.*/, '');
  const alike = manifest.combinations.filter(
    (other) => other.environment === each.environment && other.suite === each.suite && other.profile === each.profile,
  );
  const parameters = alike.length > 1 ? `, ${parametersText(each.parameters)}` : '';
  const generators = environment?.generators ? `, ${environment.generators} generators` : '';
  const awake = environment?.awake ? ', CPUs kept awake' : '';
  const method = (each.method ?? 1) === 1 ? ', method 1' : '';
  const apart = environment?.machine ? `, apart on ${environment.machine}` : '';
  const measured = [wordsOf(manifest, each.suite).title, each.profile, ...(machine ? [machine] : [])].join(', ');
  return `${measured} (${each.environment}${generators}${awake}${method}${apart})${parameters}`;
}

export function parametersText(parameters: Combination['parameters']): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}

/** The combination that the address names, or the first. */
export function chosenCombination(manifest: Manifest, query: URLSearchParams): Combination | undefined {
  const asked = query.get('c');
  return asked === null ? manifest.combinations[0] : manifest.combinations.find((each) => each.id === asked);
}

/** For an address with a combination that does not exist, and for a site that has none. */
export function NoSuch({ title, query }: { title: string; query: URLSearchParams }) {
  const asked = query.get('c');
  return (
    <>
      <h1>{title}</h1>
      <p class="empty">{asked === null ? 'Nothing has been measured yet.' : `Nothing was measured in ${asked}.`}</p>
    </>
  );
}

interface PickProps {
  label: string;
  name: string;
  value: string;
  options: { value: string; text: string }[];
  /** other names of the address that a new choice makes meaningless */
  forget?: string[];
}

export function Pick({ label, name, value, options, forget = [] }: PickProps) {
  const cleared = Object.fromEntries(forget.map((each) => [each, null]));
  return (
    <label class="pick">
      <span>{label}</span>
      <select value={value} onChange={(event) => go({ ...cleared, [name]: event.currentTarget.value })}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.text}
          </option>
        ))}
      </select>
    </label>
  );
}

export function CombinationPick({
  manifest,
  chosen,
  forget = [],
  suites = true,
}: {
  manifest: Manifest;
  chosen: Combination;
  forget?: string[];
  /** whether another suite can be chosen */
  suites?: boolean;
}) {
  const options = manifest.combinations
    .filter((each) => each.suite === chosen.suite)
    .map((each) => ({ value: each.id, text: combinationTitle(manifest, each) }));
  return (
    <>
      {suites && <SuitePick manifest={manifest} suite={chosen.suite} />}
      <Pick label="Measured as" name="c" value={chosen.id} options={options} forget={['stage', ...forget]} />
    </>
  );
}

/** The parts of an address that have no meaning in another suite. */
const OF_A_SUITE = [
  ...['stage', 'metric', 'sort', 'all', 'range', 'pin', 's', 'hide', 'server', 'kind', 'run', 'a', 'b', 'only'],
  ...['rank', 'tier', 'language', 'protocol', 'curve', 'load'],
];

/** The suites that were measured, where there are several; a choice leads to the first combination of its suite. */
export function SuitePick({ manifest, suite }: { manifest: Manifest; suite: string }) {
  const suites = [...new Set(manifest.combinations.map((each) => each.suite))];
  if (suites.length < 2) return null;
  const first = (name: string) => manifest.combinations.find((each) => each.suite === name)?.id ?? '';
  const options = suites.map((name) => ({ value: first(name), text: wordsOf(manifest, name).title }));
  return <Choice label="Suite" name="c" value={first(suite)} options={options} forget={OF_A_SUITE} />;
}

/** Links that choose one of a few options; the chosen one is marked. */
export function Choice({ label, name, value, options, forget = [] }: PickProps) {
  const cleared = Object.fromEntries(forget.map((each) => [each, null]));
  return (
    <fieldset class="choice">
      <legend>{label}</legend>
      {options.map((option) => (
        <a
          key={option.value}
          href={here({ ...cleared, [name]: option.value })}
          aria-current={option.value === value ? 'true' : undefined}
        >
          {option.text}
        </a>
      ))}
    </fieldset>
  );
}
