import fc from 'fast-check'
import { expect, test } from 'vitest'
import { declaredFeatures, slotName } from './features.ts'
import { createFeatureInference } from './infer-features.ts'
import { messageContent, readSlot } from './slot-values.ts'

const numbers = (maxItems: number) => ({ type: 'array', items: { type: 'number' }, maxItems })

test('features have the order of the schema, and large arrays are separate features', () => {
  const { telemetry, control } = declaredFeatures({
    telemetry: JSON.stringify({
      type: 'object',
      properties: {
        scan: numbers(100),
        arm: { type: 'object', properties: { joints: numbers(2), on: { type: 'boolean' } } },
        text: { type: 'string', maxLength: 9 },
      },
    }),
    control: JSON.stringify({
      type: 'object',
      properties: { height: { type: 'number', minimum: 2, maximum: 3 }, keys: numbers(64) },
    }),
  })
  expect(telemetry?.vectors.map(({ key, slots }) => [key, slots.length, slotName(slots[0]!)])).toEqual([
    ['observation.state', 3, 'arm.joints.0'],
    ['observation.telemetry_scan', 100, 'scan.0'],
  ])
  expect(telemetry?.omitted).toEqual(['text'])
  expect(control?.vectors.map(({ slots }) => slots.length)).toEqual([65])
  expect(control?.vectors[0]?.slots[0]).toMatchObject({ neutral: 2 })
})

test('a schema that is damaged counts as none', () => {
  for (const text of ['', '{', '[]', '{"type":"object"}', 'null', undefined])
    expect(declaredFeatures({ control: text, telemetry: text })).toEqual({
      control: undefined,
      telemetry: undefined,
    })
})

test('without a schema, the order of the features does not depend on the order of the messages', () => {
  const messages = [
    { b: { y: 1 }, a: [1, 2] },
    { c: true, a: [1] },
    { a: 'x', d: [{}] },
  ]
  const infer = (list: readonly object[]) => {
    const inference = createFeatureInference('telemetry')
    for (const message of list) inference.add(message)
    return inference.features()
  }
  expect(infer(messages)).toEqual(infer(messages.toReversed()))
  expect(infer(messages).vectors[0]?.slots.map(slotName)).toEqual(['a.0', 'a.1', 'b.y', 'c'])
})

test('hostile messages give bounded features without a slash, and finite numbers', () => {
  fc.assert(
    fc.property(fc.array(fc.anything({ maxDepth: 12 }), { maxLength: 20 }), (messages) => {
      const inference = createFeatureInference('telemetry')
      for (const message of messages) inference.add(message)
      const { vectors } = inference.features()
      for (const { key, slots } of vectors) {
        expect(key).not.toContain('/')
        for (const slot of slots) {
          expect(slotName(slot)).not.toContain('/')
          for (const message of messages) {
            const value = readSlot(message, slot)
            expect(value === undefined || value === null || Number.isFinite(value)).toBe(true)
          }
        }
      }
    }),
  )
  const deep = `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`
  const inference = createFeatureInference('telemetry')
  inference.add(messageContent(Buffer.from(`{"data":${deep}}`))?.data)
  expect(inference.features().vectors).toEqual([])
  expect(messageContent(Buffer.from([0xff, 0xfe, 0]))).toBeUndefined()
  expect(messageContent(Buffer.from('{"data_base64":"AAAA"}'))).toBeUndefined()
})
