import descriptor, { type IFileDescriptorSet } from 'protobufjs/ext/descriptor.js'
import { expect, test } from 'vitest'
import { frameDescriptor } from './compressed-frame.ts'

// protobufjs reads sets that other readers refuse, so the test checks what they need: each file after those that it depends on.
test.each(['CompressedVideo', 'CompressedImage'] as const)(
  'the descriptor of %s names the files that each file depends on, and lists them before it',
  (schema) => {
    const { file: files = [] } = descriptor.FileDescriptorSet.decode(
      frameDescriptor(schema),
    ) as unknown as IFileDescriptorSet
    expect(
      files?.map(({ name, package: packageName, syntax, dependency }) => [
        name,
        packageName,
        syntax,
        dependency,
      ]),
    ).toEqual([
      ['google/protobuf/timestamp.proto', 'google.protobuf', 'proto3', []],
      [`foxglove/${schema}.proto`, 'foxglove', 'proto3', ['google/protobuf/timestamp.proto']],
    ])
    const types = files?.flatMap(({ messageType }) => messageType?.flatMap(({ field }) => field ?? []) ?? [])
    expect(types?.flatMap(({ typeName }) => typeName || [])).toEqual(['.google.protobuf.Timestamp'])
  },
)
