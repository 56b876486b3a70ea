import { create, type DescMethod, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { type FileDescriptorProto, FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import type { ConnectError } from '@connectrpc/connect';
import { Client, credentials, Metadata, status } from '@grpc/grpc-js';
import { afterAll, describe, expect, it } from 'vitest';
import { BadRequestSchema, ErrorInfoSchema } from '../../../../proto/gen/google/rpc/error_details_pb.js';
import { ServerReflection } from '../../../../proto/gen/grpc/reflection/v1/reflection_pb.js';
import { Health, HealthCheckResponse_ServingStatus } from '../../../../proto/gen/health/v1/health_pb.js';
import { PaymentMethod, ProductService } from '../../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { WorkflowCommandService } from '../../../../proto/gen/payments/outbox/v1/outbox_pb.js';
import { ServiceTokenService } from '../../../../proto/gen/payments/servicetokens/v1/servicetokens_pb.js';
import { errorInfoOf, fieldViolationsOf } from '../../../../services/platform/rpc/connect-errors.ts';
import { connectErrorOf } from '../../../support/grpc-js-transport.ts';
import { newTenant, startHarness } from '../../../support/harness.ts';

const harness = await startHarness({ SERVICES: 'catalog' });
const client = new Client(new URL(harness.baseUrl).host, credentials.createInsecure());
afterAll(async () => {
  client.close();
  await harness.close();
});

type AnyMessage = MessageInitShape<DescMethod['input']>;
const pathOf = (method: DescMethod) => `/${method.parent.typeName}/${method.name}`;
const writer = (method: DescMethod) => (message: AnyMessage) =>
  Buffer.from(toBinary(method.input, create(method.input, message)));
const reader = (method: DescMethod) => (bytes: Buffer) => fromBinary(method.output, bytes);

function call<M extends DescMethod>(method: M, message: MessageInitShape<M['input']>, token?: string) {
  const metadata = new Metadata();
  if (token) metadata.set('authorization', `Bearer ${token}`);
  return new Promise<unknown>((resolve, reject) => {
    const [path, write, read] = [pathOf(method), writer(method), reader(method)];
    client.makeUnaryRequest(path, write, read, message as AnyMessage, metadata, (error, answer) =>
      error ? reject(error) : resolve(answer),
    );
  });
}

/** The response of reflection to one request. */
function reflect(message: MessageInitShape<typeof ServerReflection.method.serverReflectionInfo.input>) {
  const method = ServerReflection.method.serverReflectionInfo;
  return new Promise<ReturnType<typeof fromBinary<typeof method.output>>>((resolve, reject) => {
    const stream = client.makeBidiStreamRequest(pathOf(method), writer(method), (bytes: Buffer) =>
      fromBinary(method.output, bytes),
    );
    stream.on('data', resolve).on('error', reject);
    stream.write(message);
    stream.end();
  });
}

/** The files that reflection returns for a symbol. */
async function filesOf(symbol: string): Promise<FileDescriptorProto[]> {
  const { messageResponse } = await reflect({
    messageRequest: { case: 'fileContainingSymbol', value: symbol },
  });
  if (messageResponse.case !== 'fileDescriptorResponse') return [];
  return messageResponse.value.fileDescriptorProto.map((bytes) =>
    fromBinary(FileDescriptorProtoSchema, bytes),
  );
}

const namesOf = async (symbol: string) => (await filesOf(symbol)).map(({ name }) => name);

describe('the internal port, with a third-party gRPC client', () => {
  it('reports its health without a token, in total and by service', async () => {
    const serving = { status: HealthCheckResponse_ServingStatus.SERVING };
    for (const service of ['', ProductService.typeName]) {
      expect(await call(Health.method.check, { service })).toMatchObject(serving);
    }
    const unknown = call(Health.method.check, { service: 'payments.parties.v1.PartyService' });
    await expect(unknown).rejects.toMatchObject({ code: status.NOT_FOUND });
  });

  it('describes its services, health and itself by reflection', async () => {
    const { messageResponse: list } = await reflect({ messageRequest: { case: 'listServices', value: '' } });
    expect(list).toMatchObject({
      case: 'listServicesResponse',
      value: {
        service: [WorkflowCommandService, ServiceTokenService, ProductService, Health, ServerReflection].map(
          ({ typeName }) => ({ name: typeName }),
        ),
      },
    });
    const product = await namesOf(`${ProductService.typeName}.GetProduct`);
    expect(product).toContain('payments/catalog/v1/catalog.proto');
    expect(product).toContain('google/protobuf/timestamp.proto');
    expect(await namesOf(Health.typeName)).toEqual([Health.file.proto.name]);
    expect(await namesOf(ServerReflection.typeName)).toEqual([ServerReflection.file.proto.name]);
  });

  it('describes RPCs with their comments, and the details of errors', async () => {
    const [file] = await filesOf(ProductService.typeName);
    const getProduct = [6, 0, 2, file!.service[0]!.method.findIndex(({ name }) => name === 'GetProduct')];
    const location = file!.sourceCodeInfo!.location.find(({ path }) => `${path}` === `${getProduct}`);
    expect(location!.leadingComments).toContain('PRODUCT_NOT_FOUND');
    for (const detail of [ErrorInfoSchema, BadRequestSchema]) {
      expect(await namesOf(detail.typeName)).toEqual(['google/rpc/error_details.proto']);
    }
  });

  it('names everything at fault in a request', async () => {
    const offer = {
      ...newTenant(),
      idempotencyKey: 'a\0b',
      priceId: 'p1',
      name: '',
      checkoutUrl: 'https://shop.example/',
      paymentMethods: [PaymentMethod.CARD],
      maxInstallments: 1,
      startsAt: { seconds: 1_600_000_000n },
      endsAt: { seconds: 1_500_000_000n },
    };
    const refused = await call(ProductService.method.createOffer, offer, harness.token).catch(connectErrorOf);
    expect(errorInfoOf(refused)).toMatchObject({
      reason: 'INVALID_ARGUMENT',
      metadata: { field: 'idempotency_key' },
    });
    expect(
      fieldViolationsOf(refused as ConnectError).map(({ field, description, reason }) => [
        `${field} ${description}`,
        reason,
      ]),
    ).toEqual([
      ['idempotency_key must be text without NUL', 'INVALID_ARGUMENT'],
      ['price_id must be a valid UUID', 'INVALID_ARGUMENT'],
      ['name must be at least 1 characters', 'INVALID_ARGUMENT'],
      ['ends_at must be later than starts_at', 'OFFER_PERIOD'],
    ]);
  });
});
