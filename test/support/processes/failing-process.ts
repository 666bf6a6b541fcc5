// Loaded before a program, as `node --import`: has it fail on a signal, in ways that nothing of it handles.
process.on('SIGUSR2', () => {
  void Promise.reject(new Error('injected rejection'))
})
process.on('SIGHUP', () => {
  throw new Error('injected exception')
})
