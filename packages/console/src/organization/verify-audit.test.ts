import { expect, test } from 'vitest'
import { linesOf } from './verify-audit.ts'

/** Returns a stream of a text in pieces of some bytes, and whether its reader has ended it. */
function streamOf(text: string, size: number) {
  const bytes = new TextEncoder().encode(text)
  let at = 0
  const state = { ended: false }
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.slice(at, at + size))
      at += size
    },
    cancel() {
      state.ended = true
    },
  })
  return { stream, state }
}

async function collect(lines: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = []
  for await (const line of lines) all.push(line)
  return all
}

test.each([1, 2, 3, 7, 1_000])('lines stay whole, whatever pieces arrive: %i bytes', async (size) => {
  const text = '{"name":"Grüße"}\n\n{"name":"🤖"}\nno end'
  expect(await collect(linesOf(streamOf(text, size).stream))).toEqual(text.split('\n'))
})

test('a line without an end is not collected for ever', async () => {
  const { stream, state } = streamOf('x'.repeat(3_000_000), 100_000)
  const lines = await collect(linesOf(stream))
  expect(lines.map(({ length }) => length)).toEqual([1_100_000])
  expect(state.ended).toBe(true)
})

test('a reader that stops early ends the download', async () => {
  const { stream, state } = streamOf('row\n'.repeat(100_000), 1_000)
  for await (const _ of linesOf(stream)) break
  expect(state.ended).toBe(true)
})
