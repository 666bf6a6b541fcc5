import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { ignoreClosedOutput } from './closed-output.ts'

const failWith = (code: string) => {
  const output = new EventEmitter()
  ignoreClosedOutput([output])
  return () => output.emit('error', Object.assign(new Error(`write ${code}`), { code }))
}

test.each(['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED'])('an output without a reader (%s) is ignored', (code) => {
  expect(failWith(code)).not.toThrow()
})

test('any other failure of an output is an exception', () => {
  expect(failWith('ENOSPC')).toThrow('write ENOSPC')
})
