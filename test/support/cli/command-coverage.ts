import { stripVTControlCharacters } from 'node:util'
import type { Command } from 'commander'
import { expect } from 'vitest'

import { createProgram } from '../../../packages/cli/program.ts'
import { startInProcess } from './in-process.ts'
import { type CliUser, openTerminal, startCli } from './terminal.ts'

/** How a test runs a command: in a terminal, or with `--json`. */
type Way = 'terminal' | 'json'

const { stdin, stdout, stderr } = process

/** The program with all commands. */
export const declaredProgram: Command = await createProgram({
  env: {},
  stdin,
  stdout,
  stderr,
  signal: new AbortController().signal,
})

/** Returns all executable commands by their path. */
export function commandsOf(program: Command): Map<string, Command> {
  const leaves = (command: Command, path: readonly string[]): [string, Command][] =>
    command.commands.length === 0
      ? [[path.join(' '), command]]
      : command.commands.flatMap((each) => leaves(each, [...path, each.name()]))
  return new Map(leaves(program, []))
}

/** Creates a runner that records which commands have ended as expected. */
export function createCoverage() {
  const ways = new Map<string, Set<Way>>()
  const note = (path: string, way: Way) => ways.set(path, (ways.get(path) ?? new Set<Way>()).add(way))
  const wordsOf = (path: string, args: readonly string[]) => [...path.split(' '), ...args]

  /** Large enough for every table. */
  const screen = { columns: 250, rows: 50 }

  /** Runs a command in a pseudo-terminal, in its own process: for keys and questions. */
  function terminal(user: CliUser, path: string, ...args: string[]) {
    const opened = openTerminal(user, wordsOf(path, args), screen)
    return {
      ...opened,
      /** Waits until the command has ended with the code. @returns the whole screen */
      async done(code = 0): Promise<string> {
        expect((await opened.ended).code, `${path}: ${opened.shown()}`).toBe(code)
        note(path, 'terminal')
        return opened.shown()
      },
    }
  }

  /** Runs a command with `--json` and optional input in its own process: for signals and open input. */
  function program(user: CliUser, path: string, args: readonly string[] = [], input?: string) {
    const running = startCli(user, [...wordsOf(path, args), '--json'], input)
    return {
      ...running,
      async done(code = 0) {
        const finished = await running.ended
        expect(finished.code, `${path} --json: ${finished.stderr}`).toBe(code)
        note(path, 'json')
        return finished
      },
    }
  }

  /** Runs a command with `--json` and without input. */
  async function result(user: CliUser, path: string, args: readonly string[], code = 0) {
    const finished = await startInProcess(user, [...wordsOf(path, args), '--json'], { input: '' }).ended
    expect(finished.code, `${path} --json: ${finished.stderr}`).toBe(code)
    note(path, 'json')
    return finished
  }

  return {
    terminal,
    program,
    result,
    /** Runs a command at a terminal, which must succeed without a question. @returns the screen */
    async shown(user: CliUser, path: string, ...args: string[]): Promise<string> {
      const { code, stdout, stderr } = await startInProcess(user, wordsOf(path, args), { screen }).ended
      expect(code, `${path}: ${stderr}`).toBe(0)
      note(path, 'terminal')
      return stripVTControlCharacters(stdout + stderr)
    },
    /** Runs a command with `--json`, which must succeed without output on standard error. @returns the JSON */
    async json(user: CliUser, path: string, ...args: string[]) {
      const finished = await result(user, path, args)
      expect(finished.stderr, path).toBe('')
      return finished.json
    },
    /** Returns the commands that no test has run in a terminal or with `--json`. */
    missing: () =>
      [...commandsOf(declaredProgram).keys()].flatMap((path) =>
        (['terminal', 'json'] as const)
          .filter((way) => !ways.get(path)?.has(way))
          .map((way) => `${path} (${way})`),
      ),
  }
}
