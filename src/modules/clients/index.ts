export { clientsEndpoints, createClients } from './facade.ts'
