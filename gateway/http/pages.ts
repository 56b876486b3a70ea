interface PageQuery {
  readonly after?: string;
  readonly limit?: number;
}

/** The page that a public list's query asks for, as the services take it. */
export const pageRequest = ({ after = '', limit = 0 }: PageQuery) => ({ pageSize: limit, pageToken: after });

/** A page of a public list. Its next cursor is the services' page token; null on the last page. */
export const pageJson = <Item>(data: Item[], nextPageToken: string) => ({
  data,
  hasMore: nextPageToken !== '',
  nextCursor: nextPageToken || null,
});
