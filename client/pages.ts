/** The fields of every page. On the last one, nextCursor is null or absent. */
export interface Page<Item> {
  readonly data: readonly Item[];
  readonly nextCursor?: string | null;
}

/**
 * A list. `await` it for its first page, iterate over it with `for await` for the items of all pages, or iterate over
 * `pages()`. The first page is requested at once, each other one when the iteration gets there.
 */
export interface List<OnePage extends Page<unknown>> extends Promise<OnePage> {
  [Symbol.asyncIterator](): AsyncGenerator<OnePage['data'][number], void, undefined>;
  /** All pages, from the first. */
  pages(): AsyncGenerator<OnePage, void, undefined>;
}

/** The list whose pages `fetchPage` returns, each for the cursor at the end of the one before it. */
export function listOf<OnePage extends Page<unknown>>(
  fetchPage: (cursor: string | undefined) => Promise<OnePage>,
): List<OnePage> {
  const first = fetchPage(undefined);
  async function* pages() {
    let page = await first;
    yield page;
    while (typeof page.nextCursor === 'string') {
      page = await fetchPage(page.nextCursor);
      yield page;
    }
  }
  async function* items() {
    for await (const { data } of pages()) yield* data;
  }
  return Object.assign(first, { pages, [Symbol.asyncIterator]: items });
}
