// The address contains the whole state of a page: `#/page/id?name=value`. A reload or a copied address shows the same.

import { useEffect, useState } from 'preact/hooks';

export interface Route {
  /** `trend`, or `` for the overview */
  page: string;
  /** id of a run */
  id: string;
  query: URLSearchParams;
}

/** New values of some names; null removes a name, a list gives it several times. */
export type Patch = Record<string, string | string[] | null>;

/** The names that every page has and that links keep. */
const EVERYWHERE = ['theme'];

export function parse(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const [page = '', id = ''] = path.split('/');
  return { page, id: decode(id), query: new URLSearchParams(query) };
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parse(location.hash));
  useEffect(() => {
    const follow = () => setRoute(parse(location.hash));
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return route;
}

/** The address of another page. */
export function href(page: string, query: Patch = {}, id = ''): string {
  const asked = new URLSearchParams();
  const here = parse(location.hash).query;
  for (const name of EVERYWHERE) for (const value of here.getAll(name)) asked.append(name, value);
  return address(page, id, patched(asked, query));
}

/** The address of this page with other values. */
export function here(patch: Patch): string {
  const { page, id, query } = parse(location.hash);
  return address(page, id, patched(query, patch));
}

export function go(patch: Patch): void {
  location.hash = here(patch);
}

function patched(query: URLSearchParams, patch: Patch): URLSearchParams {
  const changed = new URLSearchParams(query);
  for (const [name, value] of Object.entries(patch)) {
    changed.delete(name);
    for (const each of Array.isArray(value) ? value : [value]) if (each !== null) changed.append(name, each);
  }
  return changed;
}

function address(page: string, id: string, query: URLSearchParams): string {
  const asked = query.toString();
  return `#/${page}${id && `/${encodeURIComponent(id)}`}${asked && `?${asked}`}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
