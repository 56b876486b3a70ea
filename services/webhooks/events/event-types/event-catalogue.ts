import type { JsonObject } from '@bufbuild/protobuf';
import { Compile, type Validator } from 'typebox/compile';
import { invalidArgument } from '../../../platform/errors.ts';
import { ADVANCE_EVENT_TYPES } from './advance.event-types.ts';
import { DISPUTE_EVENT_TYPES } from './dispute.event-types.ts';
import type { EventTypeDefinition } from './event-type.ts';
import { FUNDS_EVENT_TYPES } from './funds.event-types.ts';
import { PAYMENT_EVENT_TYPES } from './payment.event-types.ts';
import { PRODUCT_EVENT_TYPES } from './product.event-types.ts';
import { REFUND_EVENT_TYPES } from './refund.event-types.ts';

/** Every event type that merchants can subscribe to. */
export const EVENT_CATALOGUE: readonly EventTypeDefinition[] = [
  ...PAYMENT_EVENT_TYPES,
  ...REFUND_EVENT_TYPES,
  ...DISPUTE_EVENT_TYPES,
  ...PRODUCT_EVENT_TYPES,
  ...FUNDS_EVENT_TYPES,
  ...ADVANCE_EVENT_TYPES,
];

const byName = new Map<string, EventTypeDefinition>(EVENT_CATALOGUE.map((type) => [type.name, type]));
const validators = new Map<string, Validator>();

/** Throws for the first name that is not in the catalogue. INVALID_ARGUMENT (INVALID_EVENT_TYPE). */
export function requireEventTypes(names: readonly string[]): void {
  for (const [index, name] of names.entries()) requireEventType(name, `event_types[${index}]`);
}

/** Throws if a name is not in the catalogue. INVALID_ARGUMENT (INVALID_EVENT_TYPE). */
export function requireEventType(name: string, field: string): void {
  if (byName.has(name)) return;
  throw invalidArgument('INVALID_EVENT_TYPE', `${field}: ${JSON.stringify(name)} is not an event type`, {
    field,
    event_type: name,
  });
}

/**
 * Throws if data does not match the schema of its type. INVALID_ARGUMENT (INVALID_EVENT_DATA) with a JSON pointer to the
 * first error.
 * @param field of the request that has the data.
 */
export function requireEventData(name: string, data: JsonObject, field: string): void {
  const validator = validatorOf(name);
  if (validator.Check(data)) return;
  const { pointer, fault } = faultOf(validator, data);
  throw invalidArgument('INVALID_EVENT_DATA', `${field}${pointer}: ${fault}`, { field, pointer });
}

function validatorOf(name: string): Validator {
  let validator = validators.get(name);
  if (!validator) {
    const type = byName.get(name);
    if (!type) throw new TypeError(`${name} is not in the catalogue`);
    validator = Compile(type.schema) as unknown as Validator;
    validators.set(name, validator);
  }
  return validator;
}

function faultOf(validator: Validator, data: JsonObject): { pointer: string; fault: string } {
  const errors = validator.Errors(data);
  // An unexpected property has its own error, which is more precise than that of its object.
  const error = errors.find(({ keyword }) => keyword !== 'additionalProperties') ?? errors[0];
  if (!error) return { pointer: '', fault: 'is not valid' };
  if (error.keyword === 'required') {
    const [missing = ''] = error.params.requiredProperties;
    return { pointer: `${error.instancePath}/${escaped(missing)}`, fault: 'is required' };
  }
  if (error.keyword === 'boolean') return { pointer: error.instancePath, fault: 'is not known' };
  return { pointer: error.instancePath, fault: error.message };
}

const escaped = (member: string) => member.replaceAll('~', '~0').replaceAll('/', '~1');
