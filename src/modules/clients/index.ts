export { clientsEndpoints, createClients } from './module.ts'
