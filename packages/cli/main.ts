#!/usr/bin/env node
import { runProgram } from './run-program.ts'

const code = await runProgram({ argv: process.argv, env: process.env, process })
// What was written to a pipe may still be on its way; what else is open must not hold the program.
process.stdout.write('', () => process.exit(code))
