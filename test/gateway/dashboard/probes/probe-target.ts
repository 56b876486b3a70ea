import { randomUUID } from 'node:crypto';
import { mayOpen } from '../../../../gateway/dashboard/shell/access.ts';
import type { Registered } from '../../../../gateway/dashboard/shell/pages.ts';
import { ENVIRONMENT_PATHS } from '../../../../gateway/dashboard/shell/view.ts';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { SharedDashboard } from '../dashboard-fixture.ts';
import type { World, Worlds } from './probe-world.ts';

interface Property {
  readonly type?: string;
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Property[];
  readonly items?: Property;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
}

interface Fields {
  readonly properties: Readonly<Record<string, Property>>;
  readonly required?: readonly string[];
}

/** A page or action as registered, with its parameters and fields. */
export type ProbeTarget = Registered & {
  readonly form?: Fields;
  readonly query?: Fields;
  readonly hasFile?: boolean;
};

/** Every page and action of merchants that the dashboard serves. */
export const targetsOf = ({ app }: SharedDashboard) => app.registered as readonly ProbeTarget[];

/** For messages. */
export const nameOf = ({ method, path }: ProbeTarget) => `${method} ${path}`;

export const environmentOf = ({ environment = 'live' }: ProbeTarget) => environment;

/** Valid values of fields whose schemas do not say enough, by field. */
const TYPED: Readonly<Record<string, string>> = {
  email: 'probe@people.example',
  contact: 'probe@people.example',
  url: 'https://93.184.215.14/probe',
  event_types: 'payment.succeeded.v1',
  name: 'probe',
  scopes: 'funds:read',
  expires: '',
  amount: '200.00',
  quoted: '20000',
  confirmed: '',
  gross: '120.00',
  fees: '',
  paid: '300.00',
  installments: '1',
  sold_days_ago: '0',
  asked_days_ago: '0',
  sale_id: '',
  paid_at: '',
  type: 'payment.succeeded.v1',
  until: '',
  approval_reason: 'probe',
  contest_reason: 'probe',
  from: '2026-01-01T00:00',
  to: '2026-01-02T00:00',
  event_id: '',
  missed: '',
  request_id: '',
};

/** The fields that a person fills in, without token and key. Ids name records of `world`. */
export function fieldsOf(
  { form, hasFile }: ProbeTarget,
  { ids }: Pick<World, 'ids'>,
): Record<string, string> {
  const fields: Record<string, string> = hasFile ? { file: '%PDF-1.7 probe %%EOF' } : {};
  for (const [name, property] of Object.entries(form?.properties ?? {})) {
    fields[name] = ids[name] ?? (isId(property) ? randomUUID() : (TYPED[name] ?? sampleOf(property)));
  }
  return fields;
}

const isId = ({ pattern = '', format }: Property) => format === 'uuid' || pattern.startsWith('^[0-9a-f]{8}');

/** The fields of a form that are ids. */
export const idFieldsOf = ({ form }: ProbeTarget, { ids }: Pick<World, 'ids'>) =>
  Object.entries(form?.properties ?? {}).flatMap(([name, field]) =>
    name in ids || isId(field) ? [name] : [],
  );

function sampleOf(property: Property): string {
  const { type, const: only, enum: choices, anyOf, items, minimum } = property;
  if (only !== undefined) return only;
  if (choices) return choices[0]!;
  if (anyOf) return sampleOf(anyOf[0]!);
  if (items) return sampleOf(items);
  return type === 'integer' || type === 'number' ? String(minimum ?? 1) : 'probe';
}

/** The name in `ids` of a path's parameter: the files of disputes and of refund cases share one. */
export const idNameOf = ({ path }: ProbeTarget, parameter: string) =>
  parameter === 'evidenceId' && path.startsWith('/disputes/') ? 'disputeEvidenceId' : parameter;

/** The address of a target at a merchant, with parameters from `ids`. */
export function addressOf(
  target: ProbeTarget,
  merchantId: string,
  ids: Readonly<Record<string, string>>,
): string {
  const path = target.path.replaceAll(/:(\w+)/g, (_, name: string) => {
    if (name === 'name') return '2026-11-21';
    const id = ids[idNameOf(target, name)];
    if (id === undefined) throw new Error(`probes make no ${name}: add it to probe-world.ts`);
    return id;
  });
  return `/${ENVIRONMENT_PATHS[environmentOf(target)]}/${merchantId}${path}`;
}

/** The visitor with the lowest role that suffices for a target, and those with lower ones. */
export function peopleFor(target: ProbeTarget, { people }: World) {
  const withRole = (fits: (role: Role) => boolean) =>
    ([Role.VIEWER, Role.FINANCE, Role.DEVELOPER, Role.ADMIN] as const)
      .filter(fits)
      .map((role) => people[role]);
  const [enough] = withRole((role) => mayOpen(role, target));
  return { enough: enough!, tooLow: withRole((role) => !mayOpen(role, target)) };
}

/** A permitted request: the right person, place and form, with its fields filled in. */
export function permitted(target: ProbeTarget, worlds: Worlds) {
  const world = worlds[environmentOf(target)];
  const visitor = peopleFor(target, world).enough;
  const form = { ...fieldsOf(target, world), ...visitor.proof() };
  return { world, visitor, form, address: addressOf(target, world.merchantId, world.ids) };
}
