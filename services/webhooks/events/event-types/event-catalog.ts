import type { JsonObject } from '@bufbuild/protobuf';
import { Compile, type Validator } from 'typebox/compile';
import { PING_TYPE } from '../../../contracts/webhooks/ping-type.ts';
import { invalidArgument } from '../../../platform/errors.ts';
import { parseAll, requireNoFaults } from '../../../platform/request-faults.ts';
import { ADVANCE_EVENT_TYPES } from './advance.event-types.ts';
import { DISPUTE_EVENT_TYPES } from './dispute.event-types.ts';
import type { EventTypeDefinition } from './event-type.ts';
import { FUNDS_EVENT_TYPES } from './funds.event-types.ts';
import { PAYMENT_EVENT_TYPES } from './payment.event-types.ts';
import { PRODUCT_EVENT_TYPES } from './product.event-types.ts';
import { REFUND_EVENT_TYPES } from './refund.event-types.ts';

/** Every event type that merchants can subscribe to. */
export const EVENT_CATALOG: readonly EventTypeDefinition[] = [
  ...PAYMENT_EVENT_TYPES,
  ...REFUND_EVENT_TYPES,
  ...DISPUTE_EVENT_TYPES,
  ...PRODUCT_EVENT_TYPES,
  ...FUNDS_EVENT_TYPES,
  ...ADVANCE_EVENT_TYPES,
];

const byName = new Map<string, EventTypeDefinition>(EVENT_CATALOG.map((type) => [type.name, type]));
const validators = new Map<string, Validator>();

/** Throws if names are not in the catalog. INVALID_ARGUMENT (INVALID_EVENT_TYPE), with every such name. */
export function requireEventTypes(names: readonly string[]): void {
  parseAll(...names.map((name, index) => () => requireEventType(name, `event_types[${index}]`)));
}

/** Throws if a name is not in the catalog. INVALID_ARGUMENT (INVALID_EVENT_TYPE). */
export function requireEventType(name: string, field: string): void {
  if (byName.has(name)) return;
  const fault = name === PING_TYPE ? 'cannot be subscribed to or published' : 'is not an event type';
  throw invalidArgument('INVALID_EVENT_TYPE', `${field}: ${JSON.stringify(name)} ${fault}`, {
    field,
    event_type: name,
  });
}

/**
 * Throws if data does not match the schema of its type. INVALID_ARGUMENT (INVALID_EVENT_DATA) with every error, and a JSON
 * pointer to the first.
 * @param field of the request that has the data.
 */
export function requireEventData(name: string, data: JsonObject, field: string): void {
  const validator = validatorOf(name);
  if (validator.Check(data)) return;
  const faults = dataFaults(validator, data);
  const [pointer = ''] = faults.keys();
  requireNoFaults(
    [...faults].map(([at, fault]) => ({
      field,
      must: at === '' ? fault : `${at} ${fault}`,
      reason: 'INVALID_EVENT_DATA',
    })),
    { pointer },
  );
}

function validatorOf(name: string): Validator {
  let validator = validators.get(name);
  if (!validator) {
    const type = byName.get(name);
    if (!type) throw new TypeError(`${name} is not in the catalog`);
    validator = Compile(type.schema) as unknown as Validator;
    validators.set(name, validator);
  }
  return validator;
}

/** The first fault at each JSON pointer. */
function dataFaults(validator: Validator, data: JsonObject): ReadonlyMap<string, string> {
  const errors = validator.Errors(data);
  // An unexpected property has its own error, which is more precise than that of its object.
  const precise = errors.filter(({ keyword }) => keyword !== 'additionalProperties');
  const faults = new Map<string, string>();
  const add = (pointer: string, fault: string) => {
    if (!faults.has(pointer)) faults.set(pointer, fault);
  };
  for (const error of precise.length > 0 ? precise : errors) {
    const { instancePath } = error;
    if (error.keyword === 'required') {
      for (const missing of error.params.requiredProperties) {
        add(`${instancePath}/${escaped(missing)}`, 'is required');
      }
    } else add(instancePath, error.keyword === 'boolean' ? 'is not known' : error.message);
  }
  if (faults.size === 0) add('', 'is not valid');
  return faults;
}

const escaped = (member: string) => member.replaceAll('~', '~0').replaceAll('/', '~1');
