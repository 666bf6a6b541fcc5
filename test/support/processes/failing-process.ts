// Preloaded into a program with `node --import`: makes it fail on a signal, with errors that no code handles.
process.on('SIGUSR2', () => {
  void Promise.reject(new Error('injected rejection'))
})
process.on('SIGHUP', () => {
  throw new Error('injected exception')
})
