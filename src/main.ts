// First: the parent may end while the other modules are loaded.
import './core/process/parent-process.ts'
import { constants } from 'node:os'
import { inspect } from 'node:util'
import { loadConfig } from './app/config.ts'
import { createLog } from './core/log.ts'
import { ignoreClosedOutput } from './core/process/closed-output.ts'
import { whenOrphaned } from './core/process/parent-process.ts'
import { watchProcessErrors } from './core/process/process-errors.ts'
import { startRoles } from './roles/start-roles.ts'

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** Starts the process: configuration, roles, and an orderly shutdown on SIGTERM, SIGINT or SIGHUP. */
async function main(): Promise<void> {
  const startedAt = performance.now()
  ignoreClosedOutput()
  // A start that is cut off leaves nothing that the next one could not continue with, and its PostgreSQL ends with the process.
  let onSignal = (signal: (typeof SIGNALS)[number]): unknown => process.exit(128 + constants.signals[signal])
  for (const signal of SIGNALS) process.on(signal, () => onSignal(signal))
  const config = loadConfig()
  const log = createLog({ level: config.logLevel, pretty: process.stdout.isTTY === true })
  const processErrors = watchProcessErrors(log)
  let onNpmEnded = (): unknown => process.exit(1)
  if (config.runByNpm) whenOrphaned(() => onNpmEnded())
  // The demo is a tool for development: a production installation does not contain it.
  const demoTool = config.demo ? await import('../tools/demo/start.ts') : undefined
  const cameras = demoTool?.createCameraPages()
  const running = await startRoles(config, log, {
    pages: cameras ? [cameras.middleware] : [],
    accounts: demoTool?.demoAccounts ?? [],
  })
  processErrors.measure(running.platform.core.metrics)
  processErrors.setShutdown(running.stop)
  let demo: Awaited<ReturnType<NonNullable<typeof demoTool>['startDemo']>>
  let stopping = false
  const stop = async (signal: string, exitCode = 0) => {
    if (stopping) return process.exit(1) // the second signal ends the process at once
    stopping = true
    log.info({ signal }, 'stopping')
    await demo?.stop().catch((cause) => log.error({ err: cause }, 'demo not stopped cleanly'))
    await running.stop()
    log.info('stopped')
    process.exit(exitCode)
  }
  onSignal = stop
  running.failure.then((cause) => {
    log.fatal(cause.message)
    return stop('failure', 1)
  })
  onNpmEnded = () => stop('npm ended')
  if (demoTool && cameras)
    demo = await demoTool.startDemo(running, cameras).catch(async (cause: unknown) => {
      if (stopping) await new Promise(() => {}) // the platform ends while its demo starts
      await running.stop()
      throw cause
    })
  if (stopping) return

  const { baseUrl, hubUrl, gatewayUrl } = running
  log.info(
    { roles: config.roles, baseUrl, hubUrl, gatewayUrl, ms: Math.round(performance.now() - startedAt) },
    'Wheelhouse is serving',
  )
  demo?.printWelcome()
}

main().catch((cause: unknown) => {
  // Errors of the environment are plain `Error`s that say what to do. Other errors are bugs and are printed with
  // their stack.
  const expected = cause instanceof Error && cause.constructor === Error
  process.stderr.write(`\nWheelhouse did not start.\n${expected ? cause.message : inspect(cause)}\n`)
  process.exit(1)
})
