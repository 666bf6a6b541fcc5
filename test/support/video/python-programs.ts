import { spawn } from 'node:child_process'
import { PYTHONPATH } from '../examples/example-robots.ts'
import { inNamespace } from '../network/namespaces.ts'
import { python } from '../programs/external-programs.ts'

/** A running Python program. */
export interface PythonProgram extends AsyncDisposable {
  /** Returns what the program has printed so far. */
  output(): string
}

/** Starts a Python program that needs aiortc, maybe in a network namespace. Its disposal ends it. */
export async function startPython(
  script: string,
  options: { args?: readonly string[]; env: Record<string, string>; namespace?: string },
): Promise<PythonProgram> {
  const { args = [], env, namespace } = options
  const before = namespace === undefined ? [] : inNamespace(namespace)
  const [program = '', ...rest] = [...before, await python(['aiortc']), '-B', script, ...args]
  const child = spawn(program, rest, { env: { ...env, PYTHONPATH }, stdio: ['ignore', 'pipe', 'pipe'] })
  const killAtExit = () => void child.kill('SIGKILL')
  process.once('exit', killAtExit)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
    })
  }
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()))
  return {
    output: () => output,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await exited
      process.off('exit', killAtExit)
    },
  }
}
