import type { PageRequest } from '../reads/pagination.ts';

const PAGE_SIZE = 100;

/** Yields the pages of a list, each read only once it is needed. */
export async function* pagesOf<Page extends { readonly nextPageToken: string }>(
  read: (request: PageRequest) => Promise<Page>,
): AsyncGenerator<Page> {
  for (let pageToken = ''; ; ) {
    const page = await read({ pageSize: PAGE_SIZE, pageToken });
    yield page;
    if (page.nextPageToken === '') return;
    pageToken = page.nextPageToken;
  }
}

export async function allItems<Page extends { readonly nextPageToken: string }, Item>(
  read: (request: PageRequest) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): Promise<Item[]> {
  const pages = await Array.fromAsync(pagesOf(read));
  return pages.flatMap(itemsOf);
}
