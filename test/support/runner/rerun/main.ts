import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { readFailedFiles } from '../failed-files.ts'
import { chooseFiles } from './choose-files.ts'

// `npm run test:rerun`: runs the files again in which something failed in the last run, one after another. CI does so
// once: it names flaky tests, which are defects to repair, without refusing a change because of them.

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const vitest = fileURLToPath(new URL('../../../../node_modules/vitest/vitest.mjs', import.meta.url))

process.exitCode = await rerun()

async function rerun(): Promise<number> {
  const choice = chooseFiles(readFailedFiles())
  if ('refusal' in choice) return refuse(choice.refusal)
  const { files } = choice
  console.log(`Second run of the files in which something failed:\n${list(files)}`)
  const child = spawn(process.execPath, [vitest, 'run', '--maxWorkers=1', ...files], {
    cwd: root,
    stdio: 'inherit',
  })
  const [code] = await once(child, 'exit')
  if (code === 0)
    console.log(`FLAKY: these failed in the first run and passed in the second:\n${list(files)}`)
  return code ?? 1
}

function refuse(reason: string): number {
  console.error(`No second run: ${reason}.`)
  return 1
}

function list(files: readonly string[]): string {
  return files.map((file) => `  ${file}`).join('\n')
}
