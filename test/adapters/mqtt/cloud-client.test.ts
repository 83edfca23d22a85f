import { cloudClientContract } from '../../contracts/cloud-client.ts';
import { AedesRig } from '../../rig/aedes.ts';

cloudClientContract('the cloud client over the embedded broker', () => new AedesRig(), 4);
