#!/usr/bin/env node
import { Command } from 'commander'

await new Command('wheelhouse').description('Robots, sessions and keys of a Wheelhouse platform').parseAsync()
