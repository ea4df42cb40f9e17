// The pages, by the address.

import { type ComponentChild, render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import './style.css';
import './controls.css';
import './data.css';
import './overview.css';
import './print.css';
import { load, Unreadable, useLoaded } from './data/load';
import type { Manifest } from './data/types';
import { OverviewPage } from './pages/overview';
import { Shown, ThemeContext } from './parts/page';
import { here, href, type Route, useRoute } from './route';
import { onSystemTheme, remember, type Theme, themeOf } from './theme';

const PAGES = [
  { page: '', title: 'Overview' },
  { page: 'trend', title: 'Trend' },
  { page: 'compare', title: 'Compare' },
  { page: 'runs', title: 'Runs' },
  { page: 'published', title: 'Published' },
  { page: 'method', title: 'Method' },
];

function App() {
  const route = useRoute();
  const [, redraw] = useState(0);
  useEffect(() => onSystemTheme(() => redraw((times) => times + 1)), []);
  const theme = themeOf(route.query);
  // Before the children draw: charts take their colours from the style sheet.
  document.documentElement.dataset.theme = theme;
  const manifest = useLoaded('manifest', () => load<Manifest>('manifest'));
  const name =
    route.page === 'run' || route.page === 'server'
      ? `${route.page === 'run' ? 'Run' : 'Server'} ${route.id}`
      : (PAGES.find((each) => each.page === route.page)?.title ?? 'No such page');
  useEffect(() => {
    document.title = `${name}, Pushbench`;
  }, [name]);
  useEffect(() => scrollTo(0, 0), [route.page, route.id]);
  return (
    <ThemeContext.Provider value={theme}>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to content
      </button>
      <Header route={route} theme={theme} />
      <main id="main" tabIndex={-1}>
        <Shown loaded={manifest}>{(value) => <Page route={route} manifest={value} />}</Shown>
      </main>
      <footer>
        <p>
          All times are UTC. Derived from immutable records: <a href="data/manifest.json">manifest</a>,{' '}
          <a href="feed.xml">feed of changes</a>.
        </p>
      </footer>
    </ThemeContext.Provider>
  );
}

function Header({ route, theme }: { route: Route; theme: Theme }) {
  const combination = route.query.get('c');
  const other = theme === 'dark' ? 'light' : 'dark';
  const kept = (page: string) =>
    combination && (page === '' || page === 'trend' || page === 'compare') ? { c: combination } : {};
  return (
    <header>
      <a class="name" href={href('')}>
        Pushbench
      </a>
      <nav aria-label="Pages">
        {PAGES.map(({ page, title }) => (
          <a key={page} href={href(page, kept(page))} aria-current={isCurrent(route, page) ? 'page' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <a class="theme" href={here({ theme: other })} onClick={() => remember(other)}>
        {theme === 'dark' ? 'Light' : 'Dark'}
      </a>
    </header>
  );
}

function isCurrent(route: Route, page: string): boolean {
  const above: Record<string, string> = { run: 'runs', server: '' };
  return route.page === page || above[route.page] === page;
}

function Page({ route, manifest }: { route: Route; manifest: Manifest }) {
  const { query } = route;
  switch (route.page) {
    case '':
      return <OverviewPage manifest={manifest} query={query} />;
    case 'trend':
    case 'compare':
    case 'runs':
    case 'run':
    case 'server':
    case 'published':
    case 'method':
      return <OnDemand name={route.page} manifest={manifest} query={query} id={route.id} />;
    default:
      return (
        <>
          <h1>No such page</h1>
          <p>
            This site has no page at this address: <a href={href('')}>go to the overview</a>.
          </p>
        </>
      );
  }
}

interface PageProps {
  manifest: Manifest;
  query: URLSearchParams;
  id: string;
}

/** The pages whose code is loaded on demand. */
const CODE = {
  trend: () => import('./pages/trend').then((code) => code.TrendPage),
  compare: () => import('./pages/compare').then((code) => code.ComparePage),
  runs: () => import('./pages/runs').then((code) => code.RunsPage),
  run: () => import('./pages/run').then((code) => code.RunPage),
  server: () => import('./pages/server').then((code) => code.ServerPage),
  published: () => import('./pages/published').then((code) => code.PublishedPage),
  method: () => import('./pages/method').then((code) => code.MethodPage),
};

function OnDemand({ name, ...props }: PageProps & { name: keyof typeof CODE }) {
  const loaded = useLoaded<{ Wanted: (props: PageProps) => ComponentChild }>(`code of ${name}`, async () => {
    try {
      return { Wanted: await CODE[name]() };
    } catch (error) {
      throw new Unreadable(error instanceof Error ? error.message : String(error));
    }
  });
  return <Shown loaded={loaded}>{({ Wanted }) => <Wanted {...props} />}</Shown>;
}

const root = document.getElementById('app');
if (root) render(<App />, root);
