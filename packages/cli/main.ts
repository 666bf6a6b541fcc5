#!/usr/bin/env node
import { runProgram } from './program.ts'

// Libraries read the variable only.
if (process.argv.includes('--no-color')) process.env.NO_COLOR = '1'
const code = await runProgram({ argv: process.argv, env: process.env, process })
// Flushes output to a pipe, then exits even if other handles are open.
process.stdout.write('', () => process.exit(code))
