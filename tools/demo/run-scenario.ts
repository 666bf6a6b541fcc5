import { parseArgs } from 'node:util'
import { remoteEnvironment, startLocalEnvironment } from './environment.ts'
import { runScenario } from './scenario.ts'
import { runInTerminal } from './terminal.ts'
import type { Transcript } from './transcript.ts'

const usage = `Runs the main scenario: a robot connects, an operator drives it, its owner observes.

    npm run demo                                  starts a separate Wheelhouse
    npm run demo -- --url http://localhost:3000   uses one that runs; OWNER and OPERATOR must contain API keys
`

/** `npm run demo`: exit code 0 when every side saw what it should, else 1. */
function main(): Promise<void> {
  return runInTerminal(process.env, async (transcript) => {
    const { values } = parseArgs({ options: { url: { type: 'string' }, help: { type: 'boolean' } } })
    if (values.help) return void process.stdout.write(usage)
    await runDemo(values.url, transcript)
  })
}

async function runDemo(url: string | undefined, transcript: Transcript): Promise<void> {
  const startedAtMs = performance.now()
  if (!url) transcript.print('Starting a Wheelhouse for the demo …')
  const environment = url ? remoteEnvironment(url, process.env) : await startLocalEnvironment(process.env)
  transcript.print(`Running at ${environment.baseUrl}. Times count from the last → or × above them.`)
  try {
    await runScenario(environment, transcript)
  } finally {
    await environment.close()
  }
  const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1)
  transcript.print(`\nEvery side saw what it should. Done in ${seconds} s.`)
}

await main()
