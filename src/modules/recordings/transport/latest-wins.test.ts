import { expect, test } from 'vitest'
import { LatestWins } from './latest-wins.ts'

const LIMIT_BYTES = 100

function queueOver() {
  const link = { buffered: 0, sent: [] as string[], skipped: [] as string[] }
  const queue = new LatestWins<string, { isVideo: boolean; isKeyframe: boolean; text: string }>({
    limitBytes: LIMIT_BYTES,
    bufferedBytes: () => link.buffered,
    write: (key, { text }) => {
      link.sent.push(`${key}:${text}`)
      link.buffered += 60
    },
    onSkipped: (key) => link.skipped.push(key),
  })
  const plain = (text: string) => ({ isVideo: false, isKeyframe: false, text })
  const key = (text: string) => ({ isVideo: true, isKeyframe: true, text })
  const delta = (text: string) => ({ isVideo: true, isKeyframe: false, text })
  return { link, queue, plain, key, delta }
}

test('only the newest message of each channel waits, and goes out when the connection accepts more', () => {
  const { link, queue, plain } = queueOver()
  for (const text of ['1', '2', '3', '4']) queue.add('a', plain(text))
  queue.add('b', plain('1'))
  queue.add('a', plain('5'))
  expect(link.sent).toEqual(['a:1', 'a:2'])
  expect(queue.waiting).toBe(2)
  expect(queue.dropped).toBe(2)
  link.buffered = 0
  queue.flush()
  // The older message of the other channel is first: a busy channel does not delay it.
  expect(link.sent.slice(2)).toEqual(['b:1', 'a:5'])
  expect(queue.waiting).toBe(0)
})

test('flush stops when the connection is full again', () => {
  const { link, queue, plain } = queueOver()
  link.buffered = 1_000
  for (const name of ['a', 'b', 'c']) queue.add(name, plain('1'))
  link.buffered = 0
  queue.flush()
  expect(link.sent).toEqual(['a:1', 'b:1'])
  expect(queue.waiting).toBe(1)
})

test('video begins with a keyframe, and continues with one after a message was left out', () => {
  const { link, queue, key, delta } = queueOver()
  queue.add('v', delta('0'))
  queue.add('v', key('1'))
  queue.add('v', delta('2'))
  queue.add('v', delta('3')) // the connection is full
  link.buffered = 0
  queue.add('v', delta('4'))
  queue.add('v', key('5'))
  queue.add('v', delta('6'))
  expect(link.sent).toEqual(['v:1', 'v:2', 'v:5', 'v:6'])
  expect(link.skipped).toEqual(['v'])
})

test('a keyframe waits, and the messages after it are skipped until the next one', () => {
  const { link, queue, key, delta } = queueOver()
  link.buffered = 1_000
  queue.add('v', key('1'))
  queue.add('v', delta('2'))
  link.buffered = 0
  queue.flush()
  queue.add('v', delta('3'))
  expect(link.sent).toEqual(['v:1'])
  queue.add('v', key('4'))
  expect(link.sent).toEqual(['v:1', 'v:4'])
})

test('a removed channel needs a keyframe again, and nothing of it waits', () => {
  const { link, queue, key, delta, plain } = queueOver()
  queue.add('v', key('1'))
  queue.remove('v')
  queue.add('v', delta('2'))
  link.buffered = 1_000
  queue.add('a', plain('1'))
  queue.clear()
  link.buffered = 0
  queue.flush()
  expect(link.sent).toEqual(['v:1'])
})
