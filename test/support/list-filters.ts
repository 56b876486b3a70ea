import type { ListFilters, ListSubject } from './list-walk.ts';

/** Every combination of every filter's values and its absence. */
export function allFilters({ filters, refuses = () => false }: ListSubject): ListFilters[] {
  let all: ListFilters[] = [{}];
  for (const [name, { values }] of Object.entries(filters)) {
    all = all.flatMap((some) => [some, ...values.map((value) => ({ ...some, [name]: value }))]);
  }
  return all.filter((some) => !refuses(some));
}

/** Every combination of at most this many filters, and one of all of them. */
export function fewFilters(subject: ListSubject, most: number): ListFilters[] {
  const all = allFilters(subject);
  return all.filter((some) => Object.keys(some).length <= most || some === all.at(-1));
}

/** Filters that differ by one: given, left out or of another value. */
export function neighboringFilters(subject: ListSubject, filters: ListFilters): ListFilters[] {
  const near = Object.entries(subject.filters).flatMap(([name, { values }]) => {
    const { [name]: own, ...without } = filters;
    const others = values.filter((value) => value !== own).map((value) => ({ ...without, [name]: value }));
    return own === undefined ? others : [without, ...others];
  });
  return near.filter((some) => !subject.refuses?.(some));
}

/** The same filters with ids in upper case. */
export function inUpperCase({ filters }: ListSubject, given: ListFilters): ListFilters {
  const entries = Object.entries(given);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, filters[name]!.isId ? value.toUpperCase() : value]),
  );
}
