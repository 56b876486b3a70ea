import type { RecordKey } from '../../services/platform/tenant.ts';

/** A page of a scan, ascending by merchant, environment and id; records of one key are on the same page. */
export interface RecordPage<R extends RecordKey> {
  readonly records: readonly R[];
  /** Where the next page continues; undefined at the end. */
  readonly next: RecordKey | undefined;
}

export type ReadPage<R extends RecordKey> = (after: RecordKey | undefined) => Promise<RecordPage<R>>;

/** The records that two scans have at a key; one side may be empty. */
export interface Match<L, R> {
  readonly key: RecordKey;
  readonly left: readonly L[];
  readonly right: readonly R[];
}

/** Reads two scans side by side, from the position `after`, and yields every key of either once, in order. */
export async function* mergeRecords<L extends RecordKey, R extends RecordKey>(
  readLeft: ReadPage<L>,
  readRight: ReadPage<R>,
  after?: RecordKey,
): AsyncGenerator<Match<L, R>> {
  const left = new RecordQueue(readLeft, after);
  const right = new RecordQueue(readRight, after);
  for (;;) {
    await Promise.all([left.fill(), right.fill()]);
    const first = earlier(left.head, right.head);
    if (first === undefined) return;
    const { merchantId, environment, id } = first;
    yield { key: { merchantId, environment, id }, left: left.take(first), right: right.take(first) };
  }
}

/** The records of a scan, read one page ahead. */
class RecordQueue<R extends RecordKey> {
  readonly #read: ReadPage<R>;
  #after: RecordKey | undefined;
  #records: readonly R[] = [];
  #index = 0;
  #ended = false;

  constructor(read: ReadPage<R>, after: RecordKey | undefined) {
    this.#read = read;
    this.#after = after;
  }

  get head(): R | undefined {
    return this.#records[this.#index];
  }

  /** Reads the next page when the last one is used up. */
  async fill(): Promise<void> {
    while (this.head === undefined && !this.#ended) {
      const { records, next } = await this.#read(this.#after);
      this.#records = records;
      this.#index = 0;
      this.#after = next;
      this.#ended = next === undefined;
    }
  }

  /** Removes the records of a key from the front. */
  take(key: RecordKey): R[] {
    const taken: R[] = [];
    for (let { head } = this; head && compareKeys(head, key) === 0; head = this.head) {
      taken.push(head);
      this.#index += 1;
    }
    return taken;
  }
}

function earlier<L extends RecordKey, R extends RecordKey>(left: L | undefined, right: R | undefined) {
  if (left === undefined || right === undefined) return left ?? right;
  return compareKeys(left, right) <= 0 ? left : right;
}

/** The order of the database: UUIDs in lower case compare like their bytes. */
export function compareKeys(a: RecordKey, b: RecordKey): number {
  const [left, right] = [a, b].map(({ merchantId, environment, id }) => `${merchantId} ${environment} ${id}`);
  if (left === right) return 0;
  return left! < right! ? -1 : 1;
}
