import { type DescMessage, getOption, type Message } from '@bufbuild/protobuf';
import { type Path, pathToString } from '@bufbuild/protobuf/reflect';
import { createValidator, type Violation } from '@bufbuild/protovalidate';
import { field as fieldRules } from '@bufbuild/protovalidate/gen/buf/validate/validate_pb.js';
import type { FieldFault } from '../errors.ts';
import { unstorableValues } from './storable-values.ts';

/** The id of a rule that names its own reason. */
const REASON = /^[A-Z][A-Z_]*$/;
/** A rule about which values of an enum are allowed. */
const ENUM_RULE = /^enum\./;
/** The message of a rule about several fields: the field at fault, then the requirement. */
const FIELD_AND_REQUIREMENT = /^([a-z_]+): (.*)$/;
const NONE: readonly FieldFault[] = [];

const validator = createValidator();

/** The faults of a message: values that cannot be stored, or that break a rule of its proto file. */
export function messageFaults(schema: DescMessage, message: Message): readonly FieldFault[] {
  const unstorable = unstorableValues(schema, message);
  const result = validator.validate(schema, message);
  if (result.kind === 'valid') return unstorable ?? NONE;
  if (result.kind === 'error') {
    // Some values that cannot be stored also make rules fail to evaluate.
    if (!unstorable) throw result.error;
    return unstorable;
  }
  const broken = result.violations.map(faultOf);
  return [...(unstorable ?? NONE), ...broken];
}

function faultOf({ field, ruleId, message }: Violation): FieldFault {
  const path = pathToString(field);
  const [, ownField, ownMessage] = (path === '' && FIELD_AND_REQUIREMENT.exec(message)) || [];
  return {
    field: ownField ?? path,
    must:
      ownMessage ??
      (ENUM_RULE.test(ruleId) ? enumRequirement(field) : undefined) ??
      (message === '' ? 'is not valid' : message),
    ...(REASON.test(ruleId) && { reason: ruleId }),
  };
}

/** What a field of an enum must be, by name: the validator's own message has only the numbers that are not allowed. */
function enumRequirement(path: Path): string | undefined {
  const field = path.findLast((part) => part.kind === 'field');
  if (!field?.enum) return undefined;
  const { type } = getOption(field, fieldRules);
  const rules = type.case === 'repeated' ? type.value.items?.type : type;
  const excluded = rules?.case === 'enum' ? rules.value.notIn : [];
  const allowed = field.enum.values.filter(({ number }) => !excluded.includes(number));
  return `must be one of ${allowed.map(({ name }) => name).join(', ')}`;
}
