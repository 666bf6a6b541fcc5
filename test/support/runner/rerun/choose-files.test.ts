import { expect, test } from 'vitest'
import { chooseFiles } from './choose-files.ts'

const named = (count: number) => Array.from({ length: count }, (_, index) => `test/${index}.test.ts`)

test('runs up to twelve failed files again', () => {
  expect(chooseFiles({ files: named(12), otherErrors: 0 })).toEqual({ files: named(12) })
})

test.each([
  ['a run that was killed', null, 'did not reach its end'],
  ['errors of no file', { files: named(1), otherErrors: 2 }, '2 errors belong to no file'],
  ['no failed file', { files: [], otherErrors: 0 }, 'names no file'],
  ['too many failed files', { files: named(13), otherErrors: 0 }, '13 files failed'],
])('refuses after %s', (_, failed, refusal) => {
  expect(chooseFiles(failed)).toEqual({ refusal: expect.stringContaining(refusal) })
})
