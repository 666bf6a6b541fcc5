import { expect, test } from 'vitest'
import { contentDisposition } from './content-disposition.ts'

test.each([
  ['recording.mcap', 'attachment; filename="recording.mcap"'],
  ['Arm 2 (left).mcap', 'attachment; filename="Arm 2 (left).mcap"'],
  ['Käfer.mcap', `attachment; filename="K_fer.mcap"; filename*=UTF-8''K%C3%A4fer.mcap`],
  ['a"b.mcap', `attachment; filename="a_b.mcap"; filename*=UTF-8''a%22b.mcap`],
  [
    '../a\r\nSet-Cookie: x',
    `attachment; filename=".._a__Set-Cookie_ x"; filename*=UTF-8''.._a__Set-Cookie%3A%20x`,
  ],
  ['\ud800.mcap', `attachment; filename="_.mcap"; filename*=UTF-8''%EF%BF%BD.mcap`],
  ["100%'s.mcap", `attachment; filename="100__s.mcap"; filename*=UTF-8''100%25%27s.mcap`],
])('the file name %j is safe in a header', (name, value) => {
  expect(contentDisposition(name)).toBe(value)
})
