import { describe, expect, test } from 'vitest';
import { badNames, forbiddenImports, forbiddenReaches, importCycles } from './import-rules.ts';
import { importsOf, readImports, type SourceImport, sourceFiles } from './source-imports.ts';

describe('the code', async () => {
  const files = await sourceFiles();
  const imports = await readImports(files);

  test('imports only what its folder may import', () => {
    expect(forbiddenImports(imports)).toEqual([]);
  });

  test('accesses the database from services only, and keeps non-deterministic code out of workflows', () => {
    expect(forbiddenReaches(imports)).toEqual([]);
  });

  test('has no import cycles, including type imports', () => {
    expect(importCycles(imports)).toEqual([]);
  });

  test('names files in kebab-case, after their contents', () => {
    expect(badNames(files)).toEqual([]);
  });

  test('is parsed completely', () => {
    expect(files.length).toBeGreaterThan(100);
    expect(imports).toContainEqual({
      from: 'services/main.ts',
      to: 'services/server.ts',
      typeOnly: false,
    });
  });
});

describe('the rules', () => {
  const imported = (from: string, ...to: string[]): SourceImport[] =>
    to.map((one) => ({ from, to: one, typeOnly: false }));

  test.each([
    ['gateway/app.ts', 'services/catalog/product.ts'],
    ['gateway/app.ts', 'services/server.ts'],
    ['gateway/app.ts', 'workflows/worker.ts'],
    ['gateway/app.ts', 'local/ports.ts'],
    ['cli/listen.ts', 'services/platform/tenant.ts'],
    ['client/requests.ts', 'gateway/problems/problem-types.ts'],
    ['services/platform/writes/writes.ts', 'services/catalog/product.ts'],
    ['services/platform/writes/writes.ts', 'services/server.ts'],
    ['services/funds/funds.area.ts', 'services/refunds/refund-case.ts'],
    ['services/funds/funds.area.ts', 'services/server.ts'],
    ['services/refunds/execution/start-refund.ts', 'workflows/refunds/refund-execution.workflow.ts'],
    ['services/refunds/execution/start-refund.ts', 'workflows/funds/daily-release.contract.ts'],
    ['services/contracts/refunds/merchant-review.contract.ts', 'services/platform/writes/writes.ts'],
    ['services/refunds/execution/start-refund.ts', 'workflows/funds/release.activities.ts'],
    ['services/server.ts', 'gateway/app.ts'],
    ['services/server.ts', 'local/ports.ts'],
    ['workflows/refunds/refund.activities.ts', 'services/refunds/refund-case.ts'],
    ['workflows/refunds/refund.activities.ts', 'workflows/funds/release.contract.ts'],
    ['workflows/worker.ts', 'services/server.ts'],
    ['local/start.ts', 'test/support/harness.ts'],
    ['gateway/app.ts', '(computed)'],
    ['elsewhere/main.ts', 'services/platform/process/config.ts'],
  ])('forbid %s to import %s', (from, to) => {
    expect(forbiddenImports(imported(from, to))).toEqual([`${from} imports ${to}`]);
  });

  test('allow the imports of the architecture', () => {
    const allowed = [
      imported('gateway/app.ts', 'services/platform/errors.ts', 'proto/gen/a_pb.js', 'fastify'),
      imported(
        'services/refunds/execution/start-refund.ts',
        'services/contracts/refunds/refund-execution.contract.ts',
      ),
      imported('services/funds/funds-account.ts', 'services/contracts/refunds/refund-funding.contract.ts'),
      imported('services/refunds/execution/start-refund.ts', 'services/refunds/refund-case.ts'),
      imported('services/server.ts', 'services/refunds/refunds.area.ts'),
      imported('workflows/refunds/refund.activities.ts', 'workflows/retrying.ts'),
      imported('workflows/worker.ts', 'workflows/refunds/refund.activities.ts'),
      imported('local/start.ts', 'services/server.ts', 'gateway/app.ts', 'workflows/worker.ts'),
      imported('test/journeys/refund.test.ts', 'local/start.ts', 'test/support/harness.ts'),
    ];
    expect(forbiddenImports(allowed.flat())).toEqual([]);
  });

  test('forbid a database at the end of an import chain, unless only types are imported', () => {
    const path = [
      ...imported('gateway/app.ts', 'services/platform/reads/pages.ts'),
      ...imported('services/platform/reads/pages.ts', 'services/platform/database/database.ts'),
      ...imported('services/platform/database/database.ts', 'pg'),
    ];
    expect(forbiddenReaches(path)).toEqual([
      'gateway/app.ts → services/platform/reads/pages.ts → services/platform/database/database.ts → pg: only services hold a database',
    ]);
    expect(forbiddenReaches(path.map((one) => ({ ...one, typeOnly: true })))).toEqual([]);
  });

  test('allow gateways to use a database for rate limits only', () => {
    const store = [
      ...imported('gateway/app.ts', 'gateway/rate-limits/rate-limit-store.ts'),
      ...imported('gateway/rate-limits/rate-limit-store.ts', 'pg'),
    ];
    expect(forbiddenReaches(store)).toEqual([]);
    expect(
      forbiddenReaches([...store, ...imported('gateway/rate-limits/rate-limits.ts', 'pg')]),
    ).toHaveLength(1);
  });

  test('forbid workflows to import their activities or Node.js modules', () => {
    const workflow = 'workflows/refunds/refund.workflow.ts';
    for (const to of ['node:crypto', 'proto/gen/a_pb.js', 'services/platform/errors.ts']) {
      expect(forbiddenReaches(imported(workflow, to))).toHaveLength(1);
    }
    const activities = imported('workflows/refunds/refund.activities.ts', '@connectrpc/connect');
    const called = [...imported(workflow, 'workflows/refunds/refund.activities.ts'), ...activities];
    expect(forbiddenReaches(called)).toHaveLength(1);
    const typed = [{ from: workflow, to: 'workflows/refunds/refund.activities.ts', typeOnly: true }];
    expect(forbiddenReaches([...typed, ...activities])).toEqual([]);
  });

  test('find each cycle once, and none in import chains that merely meet', () => {
    const round = [
      ...imported('services/a.ts', 'services/b.ts'),
      ...imported('services/b.ts', 'services/c.ts'),
      ...imported('services/c.ts', 'services/b.ts'),
    ];
    expect(importCycles(round)).toEqual(['services/b.ts → services/c.ts → services/b.ts']);
    const meeting = [
      ...imported('services/a.ts', 'services/b.ts', 'services/c.ts'),
      ...imported('services/b.ts', 'services/d.ts'),
      ...imported('services/c.ts', 'services/d.ts'),
    ];
    expect(importCycles(meeting)).toEqual([]);
  });

  test('reject names that are not kebab-case or are meaningless', () => {
    const bad = ['services/funds/PartStore.ts', 'services/funds/part_store.ts', 'gateway/date-utils.ts'];
    bad.push('services/common/dates.ts', 'local/helpers.ts', 'services/funds/part-manager.ts');
    expect(badNames([...bad, 'services/funds/installment-store.ts', 'services/funds/funds.area.ts'])).toEqual(
      bad,
    );
  });
});

test('every form of import is found', () => {
  const source = `
    import fastify from 'fastify';
    import './side-effect.ts';
    import type { A } from './a.ts';
    import { type B } from './b.ts';
    import { type C, d } from '../d.ts';
    export * from './e.ts';
    export type { F } from './f.ts';
    export { g } from './g.ts';
    type H = import('./h.ts').H;
    const i = await import('./i.ts');
    const j = await import(text);
    // import './comment.ts'
    const text = "import './text.ts'";
    export const own = [fastify, d, i, text];
    export {};
  `;
  const found = importsOf('services/funds/x.ts', source).map(({ to, typeOnly }) => [to, typeOnly]);
  expect(Object.fromEntries(found)).toEqual({
    fastify: false,
    'services/funds/side-effect.ts': false,
    'services/funds/a.ts': true,
    'services/funds/b.ts': true,
    'services/d.ts': false,
    'services/funds/e.ts': false,
    'services/funds/f.ts': true,
    'services/funds/g.ts': false,
    'services/funds/h.ts': true,
    'services/funds/i.ts': false,
    '(computed)': false,
  });
});
