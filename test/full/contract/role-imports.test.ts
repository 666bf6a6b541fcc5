import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Loads files in a new process and returns the uWebSockets binaries that the process has loaded. */
function binariesLoadedBy(...files: string[]): string[] {
  const program = `
    for (const file of ${JSON.stringify(files)}) await import(file)
    const loaded = process.report.getReport().sharedObjects.filter((path) => path.includes('uws'))
    console.log(JSON.stringify(loaded))
    process.exit()`
  const args = ['--input-type=module', '--eval', program]
  return JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' })) as string[]
}

test('the api role loads no binary of uWebSockets', () => {
  expect(
    binariesLoadedBy('./src/roles/start-roles.ts', './src/roles/api/api.ts', './src/app/container.ts'),
  ).toEqual([])
})

test('the gateway role loads it', () => {
  expect(binariesLoadedBy('./gateway/index.ts')).not.toEqual([])
})

test('the client for S3 is loaded only with a bucket', () => {
  const program = `
    import { createRequire } from 'node:module'
    await import('./src/app/container.ts')
    const { createObjectStore } = await import('./src/core/storage/storage.ts')
    const isLoaded = () => Object.keys(createRequire(process.cwd() + '/').cache).some((path) => path.includes('@aws-sdk'))
    await createObjectStore({ kind: 'local', directory: 'unused' })
    const before = isLoaded()
    await createObjectStore({ kind: 's3', bucket: 'unused', region: 'x', prefix: '', pathStyle: true })
    console.log(JSON.stringify([before, isLoaded()]))
    process.exit()`
  const args = ['--input-type=module', '--eval', program]
  expect(JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' }))).toEqual([
    false,
    true,
  ])
})
