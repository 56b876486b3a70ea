import { glob, readFile } from 'node:fs/promises';
import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel as Level } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { AdvanceService } from '../../../../proto/gen/payments/advances/v1/advances_pb.js';
import { ProductService } from '../../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { FundsService } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { RefundCaseService } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { EventService } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { mayCall } from '../../../../services/platform/rpc/person-rules.ts';
import { sharedDashboard } from '../dashboard-fixture.ts';

const fixture = await sharedDashboard();

const simulations = () => fixture.app.registered.filter(({ path }) => path.startsWith('/simulate'));

it('registers every page and action of the panel for the sandbox and developers', () => {
  const places = simulations();
  expect(places.filter(({ method }) => method === 'POST').length).toBeGreaterThan(25);
  for (const place of places) {
    expect(place).toMatchObject({ environment: 'test', role: Role.DEVELOPER, section: 'simulate' });
  }
  expect(fixture.app.registered.filter(({ section }) => section === 'simulate')).toEqual(places);
});

it('only the panel calls the RPCs of internal teams and providers', async () => {
  const services: readonly DescService[] = [
    RefundCaseService,
    FundsService,
    AdvanceService,
    ProductService,
    EventService,
  ];
  const isInternalWrite = (method: DescMethod) =>
    method.idempotency !== Level.NO_SIDE_EFFECTS && !mayCall(Role.ADMIN, 'live', method);
  const internal = services.flatMap(({ methods }) =>
    methods.filter(isInternalWrite).map(({ localName }) => localName),
  );
  expect(internal).toContain('recordSale');
  const calls: string[] = [];
  for await (const file of glob('gateway/dashboard/**/*.ts', {
    exclude: ['gateway/dashboard/simulate/**'],
  })) {
    const text = await readFile(file, 'utf8');
    calls.push(...internal.filter((name) => text.includes(`${name}(`)).map((name) => `${file}: ${name}`));
  }
  expect(calls).toEqual([]);
});
