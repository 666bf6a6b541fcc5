import { expect, test } from 'vitest'
import { checkOutsidePaths } from './check-paths.ts'
import { Repository } from './repository.ts'

test('paths must not lead out of the repository', () => {
  const climbing = ['..', '..', 'other'].join('/')
  const absolute = ['', 'home', 'me'].join('/')
  const check = (text: string) =>
    checkOutsidePaths(Repository.of({ 'docs/a.md': text })).map(({ line, rule }) => `${rule}:${line}`)
  expect(check(`x\n[a](${climbing})`)).toEqual(['no-outside-path:2'])
  expect(check(absolute)).toEqual(['no-outside-path:1'])
  expect(check('[a](../README.md) /home/node')).toEqual([])
})
