import { hubInterfaceContract } from '../../contracts/hub-interface.ts';

hubInterfaceContract('SQLite', async () => ({}));
