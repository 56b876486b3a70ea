import type { DescMessage, Message } from '@bufbuild/protobuf';
import { pathToString } from '@bufbuild/protobuf/reflect';
import { createValidator } from '@bufbuild/protovalidate';
import { unstorableValue, type ValueFault } from './storable-values.ts';

const validator = createValidator();

/** The first value of a message that cannot be stored or breaks a rule of its proto file; undefined if all are valid. */
export function messageFault(schema: DescMessage, message: Message): ValueFault | undefined {
  const fault = unstorableValue(schema, message);
  if (fault) return fault;
  const result = validator.validate(schema, message);
  if (result.kind === 'valid') return undefined;
  if (result.kind === 'error') throw result.error;
  const [violation] = result.violations;
  return {
    field: violation ? pathToString(violation.field) : '',
    must: violation?.message ?? 'is not valid',
  };
}
