import pg from 'pg';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeDemoData } from '../../../local/demo/demo-data.ts';
import { EVENT_CATALOGUE } from '../../../services/webhooks/events/event-types/event-catalogue.ts';
import { startHarness, type TestHarness } from '../../support/harness.ts';

let harness: TestHarness;
beforeAll(async () => {
  harness = await startHarness();
  await writeDemoData(harness.transports.inProcess, new Date());
}, 300_000);
afterAll(() => harness.close());

describe('the events of all areas', () => {
  it('are of the catalogue, and their data is as it says', async () => {
    const client = new pg.Client({ connectionString: harness.databaseUrl });
    await client.connect();
    const { rows } = await client.query<{ type: string; data: unknown }>(
      'select type, data from platform.outbox_event',
    );
    await client.end();
    const validators = new Map(EVENT_CATALOGUE.map(({ name, schema }) => [name, Compile(schema)]));
    const faults = rows.flatMap(({ type, data }) => {
      const validator = validators.get(type);
      if (!validator) return [`${type} is not in the catalogue`];
      return validator.Check(data) ? [] : [`${type}: ${JSON.stringify(validator.Errors(data)[0])}`];
    });
    expect([...new Set(faults)]).toEqual([]);
    const nouns = new Set(rows.map(({ type }) => type.split('.')[0]));
    expect(nouns).toEqual(new Set(['product', 'refund', 'dispute', 'funds', 'advance']));
  });
});
