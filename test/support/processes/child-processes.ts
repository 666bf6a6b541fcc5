import { readdirSync, readFileSync } from 'node:fs'

/** Returns the running processes that a process has started, whose command line contains a text. */
export const childProcesses = (program: string, parentPid = process.pid): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const parent = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1]
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        return parent === String(parentPid) && command.includes(program)
      } catch {
        return false // it has ended
      }
    })
    .map(Number)
