"""Live handles: what is connected, open, running or code, and means nothing in another process.

Types are told by the names of their classes and bases, so that nothing is imported to compare
with, and by the methods that every database connection and cursor has (PEP 249).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

_TYPES: Final = """
builtins.generator builtins.coroutine builtins.async_generator builtins.module builtins.function
builtins.builtin_function_or_method builtins.method builtins.method-wrapper builtins.frame
builtins.traceback builtins.code builtins.cell builtins.map builtins.filter builtins.zip
builtins.enumerate builtins.reversed builtins.coroutine_wrapper builtins.async_generator_asend
builtins.memoryview functools.partial builtins.weakref weakref.ReferenceType
sqlite3.Connection sqlite3.Cursor sqlite3.Blob
_io._IOBase io.IOBase tempfile._TemporaryFileWrapper tempfile.SpooledTemporaryFile
tempfile.TemporaryDirectory mmap.mmap zipfile.ZipFile tarfile.TarFile
socket.socket _socket.socket ssl.SSLContext _ssl._SSLContext ssl.SSLObject
socketserver.BaseServer select.epoll select.poll selectors._BaseSelectorImpl
_thread.lock _thread.RLock _thread._local threading.Thread threading.Condition threading.Event
threading.Semaphore threading.Barrier threading._RLock _contextvars.Context _contextvars.Token
contextvars.Context _contextvars.ContextVar
asyncio.events.AbstractEventLoop asyncio.events.Handle _asyncio.Future _asyncio.Task
asyncio.futures.Future asyncio.tasks.Task asyncio.locks.Lock asyncio.locks.Event
asyncio.locks.Condition asyncio.locks.Semaphore asyncio.locks.Barrier asyncio.queues.Queue
asyncio.streams.StreamReader asyncio.streams.StreamWriter asyncio.transports.BaseTransport
asyncio.subprocess.Process asyncio.taskgroups.TaskGroup
queue.Queue _queue.SimpleQueue concurrent.futures._base.Executor concurrent.futures._base.Future
subprocess.Popen multiprocessing.process.BaseProcess multiprocessing.pool.Pool
multiprocessing.queues.Queue multiprocessing.connection._ConnectionBase
multiprocessing.managers.BaseManager multiprocessing.synchronize.SemLock
logging.Logger logging.LoggerAdapter logging.Handler
http.client.HTTPConnection http.client.HTTPResponse smtplib.SMTP ftplib.FTP imaplib.IMAP4
poplib.POP3 xmlrpc.client.ServerProxy urllib.request.OpenerDirector
requests.sessions.Session requests.models.Response aiohttp.client.ClientSession
aiohttp.client_reqrep.ClientResponse httpx.Client httpx.AsyncClient httpx.Response
httpx._client.BaseClient httpx._models.Response
botocore.client.BaseClient boto3.resources.base.ServiceResource boto3.session.Session
langchain_core.language_models.base.BaseLanguageModel langchain_core.vectorstores.base.VectorStore
langchain_core.embeddings.embeddings.Embeddings langchain_core.retrievers.BaseRetriever
langchain_core.tools.base.BaseTool llama_index.core.base.llms.base.BaseLLM
pydantic_ai.models.Model pydantic_ai.providers.Provider grpc.Channel grpc.aio._base_channel.Channel
sqlalchemy.engine.base.Engine sqlalchemy.engine.base.Connection sqlalchemy.orm.session.Session
"""
_NAMES: Final = frozenset(_TYPES.split())
_DRIVERS: Final = """
aiohttp aiokafka aiomysql aiopg aioredis aiosqlite amqp anthropic apsw arango asyncpg asyncssh
azure boto3 botocore cassandra celery chromadb clickhouse_connect clickhouse_driver cohere
couchbase couchdb cx_Oracle databricks deepgram docker duckdb elasticsearch elevenlabs fireworks
fsspec gcsfs google groq grpc httpcore httpx huggingface_hub influxdb_client instructor kafka
kubernetes lancedb langfuse langsmith litellm mcp meilisearch milvus minio mistralai motor mysql
neo4j nats ollama openai opensearchpy oracledb paramiko peewee pika pinecone playwright prisma
psycopg psycopg2 psycopg_pool pymongo pymssql pymysql MySQLdb pyodbc pyrogram qdrant_client redis
replicate requests s3fs selenium slack_sdk snowflake sqlalchemy supabase tavily tidb
together trino turbopuffer urllib3 valkey voyageai weaviate websockets zmq
"""
_ROOTS: Final = frozenset(_DRIVERS.split())
_LIVE: Final = re.compile(
    r"(?:Client\w{0,2}|Connection|Cursor|Session|Pool|PoolManager|Engine|Channel|Driver|Database"
    r"|Collection|Redis|Valkey|StrictRedis|Cluster|WebDriver|Browser|BrowserContext|Page|Transport"
    r"|Producer|Consumer|Socket|Stream|FileSystem|Mongo|Connect|OpenAI|Anthropic|Groq|Together"
    r"|Mistral|Cohere|Fireworks|Replicate|Ollama|Elasticsearch|OpenSearch|Pinecone|Weaviate"
    r"|Celery)$"
)
_CURSOR: Final = frozenset({"execute", "fetchone", "fetchall", "close"})
_CONNECTION: Final = frozenset({"cursor", "commit", "rollback", "close"})


@lru_cache(maxsize=2048)
def handle_type(cls: Any) -> str | None:
    """Give the name of a type whose instances are live handles, else None."""
    for base in cls.__mro__[:-1]:
        module = base.__module__
        if f"{module}.{base.__qualname__}" in _NAMES or module.endswith("._base_client"):
            return type_name(cls)
        if module.partition(".")[0] in _ROOTS and _LIVE.search(base.__name__):
            return type_name(cls)
    names = set(dir(cls))
    return type_name(cls) if names >= _CURSOR or names >= _CONNECTION else None


def type_name(cls: type) -> str:
    """Give the name of a type with its module, without ``builtins``."""
    module = cls.__module__
    return cls.__qualname__ if module == "builtins" else f"{module}.{cls.__qualname__}"
